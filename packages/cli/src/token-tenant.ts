// Tokens belong to a tenant, and its id is in their path.

import type { Invocation } from './command.ts'
import { tellError } from './print/failure.ts'

export async function tenantOf({ settings, terminal }: Invocation): Promise<string | undefined> {
  const chosen = await settings()
  const tenant = chosen.ok ? chosen.settings.tenant : undefined
  if (tenant === undefined) tellError(terminal, 'no tenant is named: --tenant <id>, or HOLDFAST_TENANT')
  return tenant
}
