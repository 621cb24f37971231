// Which copy of a volume group is prepared for promotion, or why none is, copy by copy. All volumes that one workload writes
// are promoted together, so a copy must fit for every one of them. See docs/design/promoting.md#controller

import type { NodeId, PromiseAnswer } from '@holdfast/contract'
import { type Candidate, type PromotionPlan, planPromotion } from '../../promotion/plan-promotion.ts'
import { PROMOTION_TIMINGS } from '../../promotion/timings.ts'
import { commonNodes } from '../common-nodes.ts'
import { groupRecordOf } from '../group-configuration.ts'
import type { GroupMember } from '../handover.ts'
import { replicasOf, type VolumeRecord } from '../volume-record.ts'
import { type AnswerOf, type CommonCheckpoint, commonCheckpoint } from './common-checkpoint.ts'

/** Why a copy is not promoted, as one word; `none` if it may be. */
export type PromotionObstacle =
  | 'none'
  /** The primary does not need the promise of the node for every volume of the group. */
  | 'not_promotable'
  /** The node did not answer. */
  | 'node_silent'
  /** The node does not vote yet, or for another configuration. */
  | 'promised'
  /** A filter of the scheduler or residency refuses the node. */
  | 'refused_by_filter'
  | 'no_common_checkpoint'
  | 'lagging'

export interface JudgedCopy {
  readonly nodeId: NodeId
  readonly obstacle: PromotionObstacle
  /** Undefined if the node holds no checkpoint of the whole group. */
  readonly checkpoint: CommonCheckpoint | undefined
}

export interface PromotionLimits {
  /** A copy further behind is promoted only by force. */
  readonly maxLagMs: number
  /** The shortest time between two promotions of a group by the controller. */
  readonly apartMs: number
}

/** The demands of an operator. */
export interface Demand {
  /** The only node that may be prepared. */
  readonly nodeId?: NodeId
  /** Any lag is accepted. */
  readonly force: boolean
  /** By the operator's word no other node writes, so a node need not be promotable. */
  readonly primaryIsDead: boolean
}

export interface GroupFacts {
  readonly members: readonly Pick<GroupMember, 'volume' | 'accepts'>[]
  /** Whether the server has heard nothing of the primary for long enough. */
  readonly isPrimarySilent: boolean
  readonly limits: PromotionLimits
  /** In milliseconds since 1970. */
  readonly nowMs: number
  /** The answers of a node about the volumes; undefined if the node did not answer. */
  answersOf(nodeId: NodeId): readonly PromiseAnswer[] | undefined
  /** Absent for the controller. */
  readonly demand?: Demand
}

export type GroupPlan = { readonly copies: readonly JudgedCopy[] } & (
  | { readonly prepare: NodeId }
  | Extract<PromotionPlan, { readonly wait: string }>
)

export function planGroup(facts: GroupFacts): GroupPlan {
  const { members, isPrimarySilent, limits, nowMs, demand } = facts
  const volumes = members.map(({ volume }) => volume)
  const [record] = volumes.map(groupRecordOf)
  const copies = nodesToAsk(volumes, demand).map((nodeId) => judgeCopy(facts, volumes, nodeId))
  if (record === undefined) return { wait: 'no_candidate', copies }
  const promotedAt = volumes.flatMap(({ promotions }) => Date.parse(promotions?.[0]?.at ?? '') || [])
  const plan = planPromotion(
    {
      record: { ...record, promotable: eligibleNodes(volumes, demand) },
      silentSinceMs: isPrimarySilent ? Number.NEGATIVE_INFINITY : undefined,
      promotedAtMs: demand === undefined && promotedAt.length > 0 ? Math.max(...promotedAt) : undefined,
      candidates: copies.toSorted(byLoss).map((copy) => candidateOf(volumes, copy)),
      nowMs,
    },
    { ...PROMOTION_TIMINGS, maxLagMs: maxLagMs(limits, demand), promotionsApartMs: limits.apartMs },
  )
  if ('wait' in plan) return { ...plan, copies }
  const chosen = copies.find(({ nodeId }) => nodeId === plan.prepare)
  return chosen === undefined ? { wait: 'no_candidate', copies } : { prepare: chosen.nodeId, copies }
}

/** Of copies with the same checkpoint, the first is prepared. */
const byLoss = ({ checkpoint: one }: JudgedCopy, { checkpoint: other }: JudgedCopy): number =>
  (one?.lossMs ?? Number.MAX_VALUE) - (other?.lossMs ?? Number.MAX_VALUE)

const maxLagMs = (limits: PromotionLimits, demand: Demand | undefined): number =>
  demand?.force === true ? Number.POSITIVE_INFINITY : limits.maxLagMs

/** The nodes whose answers a plan needs: those with a replica of every volume. */
export function nodesToAsk(volumes: readonly VolumeRecord[], demand?: Demand): NodeId[] {
  const holders = commonNodes(volumes.map((volume) => replicasOf(volume).map(({ nodeId }) => nodeId)))
  return demand?.nodeId === undefined ? holders : holders.filter((nodeId) => nodeId === demand.nodeId)
}

function eligibleNodes(volumes: readonly VolumeRecord[], demand: Demand | undefined): NodeId[] {
  if (demand?.primaryIsDead === true) return nodesToAsk(volumes, demand)
  return commonNodes(volumes.map(({ promotable = [] }) => promotable))
}

function judgeCopy(facts: GroupFacts, volumes: readonly VolumeRecord[], nodeId: NodeId): JudgedCopy {
  const answers = facts.answersOf(nodeId)
  const answerOf: AnswerOf = (id) => answers?.find(({ volume }) => volume === id)
  const checkpoint = commonCheckpoint(volumes, nodeId, answerOf)
  return {
    nodeId,
    checkpoint,
    obstacle: obstacleOf(facts, volumes, { nodeId, answers, answerOf, checkpoint }),
  }
}

interface AnsweredCopy {
  readonly nodeId: NodeId
  readonly answers: readonly PromiseAnswer[] | undefined
  readonly answerOf: AnswerOf
  readonly checkpoint: CommonCheckpoint | undefined
}

function obstacleOf(
  { members, limits, demand }: GroupFacts,
  volumes: readonly VolumeRecord[],
  { nodeId, answers, answerOf, checkpoint }: AnsweredCopy,
): PromotionObstacle {
  if (!eligibleNodes(volumes, demand).includes(nodeId)) return 'not_promotable'
  if (answers === undefined) return 'node_silent'
  if (!volumes.every((volume) => wouldVote(volume, answerOf(volume.id)))) return 'promised'
  if (!members.every(({ accepts }) => accepts(nodeId))) return 'refused_by_filter'
  if (checkpoint === undefined) return 'no_common_checkpoint'
  return lagOf(volumes, nodeId, checkpoint) > maxLagMs(limits, demand) ? 'lagging' : 'none'
}

/** A node that has voted already, for a server that ended since, votes again. */
function wouldVote({ primary }: VolumeRecord, answer: PromiseAnswer | undefined): boolean {
  return answer?.epoch === primary?.epoch && (answer?.state === 'expired' || answer?.state === 'voted')
}

/**
 * The time by which a copy was behind when it last heard the primary, which could write until its lease ended. Without that
 * time, the last report of the primary decides: it called the copy current, or the copy counts as too far behind.
 */
function lagOf(volumes: readonly VolumeRecord[], nodeId: NodeId, { lossMs }: CommonCheckpoint): number {
  if (lossMs !== undefined) return Math.max(0, lossMs - PROMOTION_TIMINGS.leaseMs)
  const isCurrent = volumes.every(({ copies }) =>
    copies.some((copy) => copy.nodeId === nodeId && copy.state === 'current'),
  )
  return isCurrent ? 0 : Number.POSITIVE_INFINITY
}

const ANY_TIME = { boot: 0, ms: 0 }

/** The volumes of a group have epochs of their own, so the number alone orders their checkpoints. */
function candidateOf(
  volumes: readonly VolumeRecord[],
  { nodeId, obstacle, checkpoint }: JudgedCopy,
): Candidate {
  const isUsable = obstacle === 'none' || obstacle === 'lagging'
  return {
    node: nodeId,
    held: checkpoint && { epoch: 0, number: checkpoint.number, takenAt: ANY_TIME },
    lagMs: checkpoint === undefined ? Number.POSITIVE_INFINITY : lagOf(volumes, nodeId, checkpoint),
    expired: isUsable,
    accepted: isUsable,
  }
}
