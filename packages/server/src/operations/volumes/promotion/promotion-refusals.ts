// Why an operator's promotion is refused, with what to do.

import type { TenantId } from '@holdfast/contract'
import { type Demand, type GroupPlan, OBSTACLE_TEXTS, type PromotionObstacle, reject } from '@holdfast/core'
import type { StoredVolume } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { type Refused, refused } from '../../caller.ts'
import { namesOfNodes } from '../volume-view.ts'

export interface CannotPromote {
  readonly store: Pick<Store, 'get'>
  readonly tenant: TenantId
  readonly volume: StoredVolume
  readonly demand: Demand
}

/** Remedies that an operator has at once. */
const REMEDIES: { readonly [obstacle in PromotionObstacle]?: string } = {
  not_promotable: 'primaryIsDead true accepts it if no other machine writes',
  promised: 'try again in 20 seconds',
  lagging: 'force true accepts the loss',
}

function obstacleText(obstacle: PromotionObstacle): string {
  const remedy = REMEDIES[obstacle]
  return remedy === undefined ? OBSTACLE_TEXTS[obstacle] : `${OBSTACLE_TEXTS[obstacle]}; ${remedy}`
}

export function waitingFor(facts: CannotPromote, plan: GroupPlan & { readonly wait: string }): Refused {
  if (plan.wait === 'primary_alive')
    return notNow(facts, 'a volume whose primary is silent; to move a live primary, drain its node')
  const nameOf = namesOfNodes(facts.store, facts.tenant)
  const copies = plan.copies.map(({ nodeId, obstacle }) => `${nameOf(nodeId)} ${obstacleText(obstacle)}`)
  return notNow(
    facts,
    `a copy that can be promoted; ${copies.length === 0 ? 'there is no copy' : copies.join(', ')}`,
  )
}

/** The records changed after the vote, or the answer to the request for it was lost. */
export const changedSinceAsked = (facts: CannotPromote): Refused =>
  notNow(facts, 'the same request again: the volume or its copies changed while the copies were asked')

function notNow({ store, tenant, volume, demand }: CannotPromote, accepted: string): Refused {
  const primary = volume.primary === null ? '' : namesOfNodes(store, tenant)(volume.primary.nodeId)
  const received = demand.nodeId ?? null
  return refused(reject('volume_primary_mismatch', 'nodeId', received, { accepted, primary }))
}
