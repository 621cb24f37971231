// The records of a volume group after the vote of a copy: all volumes are promoted together or none is.
// See docs/design/promoting.md#controller

import type { HeldCheckpoint, NodeId, PromiseAnswer, Promotion } from '@holdfast/contract'
import { promoteGroup } from '../../promotion/controller.ts'
import type { Force } from '../../promotion/messages.ts'
import { groupRecordOf } from '../group-configuration.ts'
import type { HeldCopy, VolumeRecord } from '../volume-record.ts'
import { commonCheckpoint, largest, MOST_PROMOTIONS, voteOf } from './common-checkpoint.ts'

/** The votes of one node for all volumes of a group. */
export interface GroupVote {
  readonly nodeId: NodeId
  readonly answers: readonly PromiseAnswer[]
  readonly force?: Force
  readonly cause: Promotion['cause']
}

/**
 * The promoted volumes. Undefined if the node did not vote for every one of them, or if a record has changed since: then
 * nothing may be written.
 */
export function promoteVolumes<V extends VolumeRecord>(
  volumes: readonly V[],
  vote: GroupVote,
  at: string,
): V[] | undefined {
  const voted = vote.answers.filter(({ state }) => state === 'voted')
  const answerOf = (id: VolumeRecord['id']) => voted.find(({ volume }) => volume === id)
  const common = commonCheckpoint(volumes, vote.nodeId, answerOf)
  const promoted = volumes.map((volume) => {
    const answer = answerOf(volume.id)
    const held = common?.held.get(volume.id)
    return answer && held && promoteVolume(volume, { ...vote, answer, held }, at)
  })
  const all = promoted.filter((each) => each !== undefined)
  if (volumes.length === 0 || all.length < volumes.length) return undefined
  const lossMs = largest(all.map((each) => each.lossMs)) ?? null
  return all.map(({ volume, promotion }) => withPromotion(volume, { ...promotion, lossMs }))
}

interface VolumeVote extends Omit<GroupVote, 'answers'> {
  readonly answer: PromiseAnswer
  readonly held: HeldCheckpoint
}

interface Promoted<V> {
  readonly volume: V
  readonly promotion: Omit<Promotion, 'lossMs'>
  readonly lossMs: number | undefined
}

function promoteVolume<V extends VolumeRecord>(
  volume: V,
  { nodeId, answer, held, force, cause }: VolumeVote,
  at: string,
): Promoted<V> | undefined {
  const before = groupRecordOf(volume)
  const hasReplica = volume.copies.some((copy) => copy.nodeId === nodeId && copy.role === 'replica')
  const next = before && promoteGroup(before, voteOf(nodeId, answer, held, force))
  if (next === undefined || volume.primary === null || !hasReplica) return undefined
  const { epoch: fromEpoch, nodeId: from } = volume.primary
  const { epoch: toEpoch, cv } = next.record
  return {
    volume: {
      ...volume,
      phase: 'Promoting',
      reason: null,
      primary: { nodeId, epoch: toEpoch, since: at },
      from: { epoch: held.epoch, number: held.number },
      handover: null,
      unpromoted: null,
      promotable: [],
      cv,
      copies: volume.copies.map((copy) => withRole(copy, nodeId)),
    },
    promotion: { at, fromEpoch, toEpoch, from, to: nodeId, cause, checkpoint: held.number },
    lossMs: next.lossMs,
  }
}

function withRole(copy: HeldCopy, primary: NodeId): HeldCopy {
  if (copy.nodeId === primary) return { ...copy, role: 'primary', state: 'seeding' }
  return copy.role === 'primary' ? { ...copy, role: 'replica', state: 'missing' } : copy
}

const withPromotion = <V extends VolumeRecord>(volume: V, promotion: Promotion): V => ({
  ...volume,
  promotions: [promotion, ...(volume.promotions ?? [])].slice(0, MOST_PROMOTIONS),
})
