// The announcement that the containers quota forces a write to stop old replicas first. The facts come from the cache,
// because the announcement rejects nothing.

import { type Alteration, ownerOf, type TenantId } from '@holdfast/contract'
import { announceStopFirst, desiredReplicas } from '@holdfast/core'
import { countContainers } from '../../../quotas/quotas.ts'
import { targetOf } from '../../../scheduling/revision-target.ts'
import type { StoredDeployment } from '../../../store/records.ts'
import { placementAt } from '../../../store/transaction.ts'
import type { DeploymentDeps } from '../deps.ts'

export function stopFirstOf(
  { store, quotas }: Pick<DeploymentDeps, 'store' | 'quotas'>,
  tenant: TenantId,
  next: StoredDeployment,
): Alteration[] {
  const placed = store.get(placementAt(tenant, ownerOf('deployment', next.uid)))?.record.assignments ?? []
  if (placed.length === 0) return []
  const containers = { used: countContainers(store, tenant), limit: quotas.limit(tenant, 'containers') }
  const templateHash = targetOf(next)?.templateHash
  const written = { spec: next.spec, replicas: desiredReplicas(next), templateHash }
  return announceStopFirst(written, { assignments: placed, containers })
}
