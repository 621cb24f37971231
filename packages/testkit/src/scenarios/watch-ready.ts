// Finds the lowest number of ready replicas of a deployment in any state of the store, because a rollout guarantees a
// number of ready replicas at every moment, not only at its end.

import { ownerOf, type TenantId } from '@holdfast/contract'
import { deployments, observations } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'

export interface ReadyWatch {
  /** The lowest number of ready replicas since the last call, or since the watch began. */
  lowest(): number
  stop(): void
}

export function watchReady(store: Store, tenantId: string, name: string): ReadyWatch {
  const tenant = tenantId as TenantId
  const readyNow = (): number => {
    const uid = store.get(inTenant(tenant, deployments, name))?.record.uid
    const placed = uid && store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record.assignments
    const seen = (placed ?? []).filter(({ desired }) => desired === 'running')
    return seen.filter(({ id }) => {
      const observed = store.get(inTenant(tenant, observations, id))?.record
      return observed?.state === 'ready' && observed.reason === ''
    }).length
  }
  let least = readyNow()
  const stop = store.subscribe(() => {
    least = Math.min(least, readyNow())
  })
  return {
    lowest() {
      const lowestSeen = least
      least = readyNow()
      return lowestSeen
    },
    stop,
  }
}
