// How much confirmation a change needs: the name is typed only where data or a service would be gone for good.

import type { Effects } from '@holdfast/contract'

interface Plan {
  readonly action: 'create' | 'update' | 'none' | 'delete'
  readonly effects: Pick<Effects, 'lostData' | 'unrouted' | 'lowestReady'>
}

export function needsName({ action, effects }: Plan): boolean {
  const { lostData, unrouted, lowestReady } = effects
  const stopped = new Set(lowestReady.filter(({ desired }) => desired === 0).map((each) => each.deployment))
  // A route without a ready replica is served again after the rollout, unless none is desired any longer.
  const isGone = ({ deployment, reason }: Effects['unrouted'][number]): boolean =>
    reason !== 'no_ready_replica' || stopped.has(deployment)
  return action === 'delete' || lostData.length > 0 || unrouted.some(isGone)
}
