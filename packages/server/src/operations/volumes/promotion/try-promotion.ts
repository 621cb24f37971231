// The steps of a promotion that the controller and an operator's request share: ask the copies, plan, ask one copy for its
// votes, and stage the records. See docs/design/promoting.md#controller

import type { NodeId, PromiseAnswer, TenantId, VolumeId } from '@holdfast/contract'
import { type Demand, type GroupPlan, type GroupVote, planGroup, promoteVolumes } from '@holdfast/core'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import { nodes, type StoredVolume, volumes } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { recordEvent } from '../../record-write.ts'
import type { SituationDeps } from '../volume-situation.ts'
import { namesOfNodes } from '../volume-view.ts'
import { promotedEvent } from './promotion-events.ts'
import { compareGroup, type PromotionMember, promotionGroup } from './promotion-group.ts'
import { asked, type PromotionPort } from './promotion-port.ts'

export interface PromotionDeps extends Pick<SituationDeps, 'store' | 'residency'> {
  readonly clock: Clock
  readonly promotions: PromotionPort
}

/** The answers of nodes by their ids; undefined for a node that did not answer. */
export type Answers = ReadonlyMap<NodeId, readonly PromiseAnswer[]>

export interface GroupState {
  readonly members: readonly PromotionMember[]
  readonly isPrimarySilent: boolean
  readonly demand?: Demand
}

/** Plans from the answers; without any, the plan states only whether to wait before the copies are asked. */
export function planNow(
  { promotions, clock }: PromotionDeps,
  { members, isPrimarySilent, demand }: GroupState,
  answers: Answers,
): GroupPlan {
  return planGroup({
    members,
    isPrimarySilent,
    limits: promotions.limits,
    nowMs: clock.now(),
    answersOf: (nodeId) => answers.get(nodeId),
    ...(demand && { demand }),
  })
}

/** Whether the primary of a group is silent, so that a copy may replace it. */
export async function isPrimarySilent(
  { promotions }: PromotionDeps,
  tenant: TenantId,
  members: readonly PromotionMember[],
): Promise<boolean> {
  const primary = members[0]?.volume.primary?.nodeId
  return primary !== undefined && (await promotions.isSilent(tenant, primary))
}

/** Asks a node for its votes about all volumes of a group; undefined if it did not answer. */
export async function voteOfNode(
  { promotions }: PromotionDeps,
  tenant: TenantId,
  members: readonly PromotionMember[],
  nodeId: NodeId,
  demand?: Demand,
): Promise<GroupVote | undefined> {
  const isForced = demand !== undefined && (demand.force || demand.primaryIsDead)
  const force = isForced ? { primaryIsDead: demand.primaryIsDead } : undefined
  const question = asked(
    members.map(({ volume }) => volume),
    force,
  )
  const answers = await promotions.askPromises(tenant, nodeId, 'prepare', question)
  if (answers === 'unreachable') return undefined
  return { nodeId, answers, cause: isForced ? 'forced' : 'primary_silent', ...(force && { force }) }
}

/**
 * Stages the promotion of the whole group of a volume, with its events. The group is read through the transaction, so the
 * commit compares every volume of it and what it consists of. Undefined if the votes do not fit the records: nothing is
 * staged.
 */
export function stagePromotion(
  deps: PromotionDeps,
  transaction: Transaction,
  tenant: TenantId,
  id: VolumeId,
  vote: GroupVote,
): StoredVolume[] | undefined {
  const { store, clock } = deps
  const volume = transaction.get(inTenant(tenant, volumes, id))
  if (volume === undefined || !MAY_BE_PROMOTED.includes(volume.phase)) return undefined
  const now = clock.now()
  const members = promotionGroup(
    { ...deps, read: (address) => transaction.get(address), now },
    tenant,
    volume,
  )
  const group = members.map((member) => member.volume)
  compareGroup(transaction, deps, tenant, group)
  transaction.get(inTenant(tenant, nodes, vote.nodeId))
  if (!members.every(({ accepts }) => accepts(vote.nodeId))) return undefined
  const promoted = promoteVolumes(group, vote, timestamp(clock))
  const nameOf = namesOfNodes(store, tenant)
  for (const next of promoted ?? []) {
    transaction.put(inTenant(tenant, volumes, next.id), next)
    const [promotion] = next.promotions ?? []
    if (promotion !== undefined)
      recordEvent(transaction, clock, tenant, promotedEvent(next, promotion, nameOf))
  }
  return promoted
}

/** The phases in which the primary of a volume has data that a copy may replace. */
export const MAY_BE_PROMOTED: readonly StoredVolume['phase'][] = [
  'Ready',
  'Degraded',
  'Promoting',
  'Resizing',
]
