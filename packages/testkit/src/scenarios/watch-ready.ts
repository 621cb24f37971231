// The lowest number of ready replicas of a deployment that the store ever showed, because a rollout's guarantee is about every
// moment, not only its end.

import type { TenantId } from '@holdfast/contract'
import { deployments, observations, placements } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'

export interface ReadyWatch {
  /** The lowest number since the last call, or since the watch began. */
  lowest(): number
  stop(): void
}

export function watchReady(store: Store, tenantId: string, name: string): ReadyWatch {
  const tenant = tenantId as TenantId
  const readyNow = (): number => {
    const uid = store.get(inTenant(tenant, deployments, name))?.record.uid
    const placed = uid && store.get(inTenant(tenant, placements, uid))?.record.assignments
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
