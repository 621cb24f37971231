// What residency can be honoured with at this moment: the rules of this control plane, and the labels of the tenant's nodes that
// can be reached. Read from the cache, for it refuses nothing. SPEC 2.7, DECISIONS 2.

import type { DeploymentSpec, TenantId } from '@holdfast/contract'
import type { ResidencyFact } from '@holdfast/core'
import { hiddenCountry } from '../../../scheduling/scheduling-facts.ts'
import { nodes } from '../../../store/records.ts'
import type { DeploymentDeps } from '../deps.ts'

/** Asked only where something is demanded: a tenant may have many nodes. */
export function gatherResidency(
  { store, residency: rules }: Pick<DeploymentDeps, 'store' | 'residency'>,
  tenant: TenantId,
  { placement }: DeploymentSpec,
): { readonly residency?: ResidencyFact } {
  if (placement?.residency === undefined) return {}
  const reachable = store
    .list(nodes, tenant)
    .filter(({ record }) => record.status === 'ready')
    .map(({ record }) => ({ labels: record.labels, hiddenCountry: hiddenCountry(record) }))
  return { residency: { rules, reachable } }
}
