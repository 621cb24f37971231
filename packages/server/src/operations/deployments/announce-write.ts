// SPEC 1: what the server changed and the client did not send is announced in the answer and in the log. Codes and fields
// only: a value may be anything.

import type { Caller } from '../caller.ts'
import type { DeploymentDeps } from './deps.ts'
import type { Written } from './written.ts'

export function announceWrite(
  { announce }: Pick<DeploymentDeps, 'announce'>,
  { tenant, requestId }: Caller,
  written: Written,
): void {
  const { deployment, alterations, warnings } = written
  if (alterations.length + warnings.length === 0) return
  const named = ({ code, field }: { readonly code: string; readonly field: string }) => ({ code, field })
  announce({
    tenant,
    requestId,
    deployment: deployment.name,
    alterations: alterations.map(named),
    warnings: warnings.map(named),
  })
}
