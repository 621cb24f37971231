// What a change would recreate, from the records as the cache shows them: the facts of core/reconcile/describe-rollout.ts.

import type { TenantId } from '@holdfast/contract'
import { describeRollout, isReady, type RolloutDescription, type RunningReplica } from '@holdfast/core'
import { nodes, observations, placements, type StoredDeployment } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import type { Quotas } from '../quotas.ts'
import { targetOf } from './revision-target.ts'

export interface RolloutDeps {
  readonly store: Pick<Store, 'get' | 'list'>
  readonly quotas: Pick<Quotas, 'limit'>
}

/** `next` is the deployment as it would be stored; `restart` where that is all that it asks for. */
export function planRolloutSteps(
  { store, quotas }: RolloutDeps,
  tenant: TenantId,
  next: StoredDeployment,
  restart = false,
): RolloutDescription {
  const { spec, uid } = next
  const used = store.list(placements, tenant).reduce((sum, { record }) => sum + record.assignments.length, 0)
  return describeRollout({
    spec,
    running: runningOf(store, tenant, uid),
    templateHash: targetOf(next)?.templateHash,
    restart,
    quotaReached: used >= quotas.limit(tenant, 'containers'),
  })
}

function runningOf(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  uid: StoredDeployment['uid'],
): RunningReplica[] {
  const { assignments = [] } = store.get(inTenant(tenant, placements, uid))?.record ?? {}
  return assignments
    .filter(({ desired }) => desired === 'running')
    .map(({ id, replica, nodeId, templateHash }) => {
      const seen = store.get(inTenant(tenant, observations, id))?.record
      const nodeName = store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId
      return { replica, nodeId, nodeName, templateHash, ready: isReady(seen) }
    })
}
