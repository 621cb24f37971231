// The newest checkpoint that a node holds for every volume of a group. Checkpoints of a group have the same number in all
// its volumes, and numbers continue across epochs.

import type { HeldCheckpoint, NodeId, PromiseAnswer, VolumeId } from '@holdfast/contract'
import { lossOf } from '../../promotion/controller.ts'
import type { Checkpoint, Force, Vote } from '../../promotion/messages.ts'
import { groupRecordOf } from '../group-configuration.ts'
import type { VolumeRecord } from '../volume-record.ts'

export interface CommonCheckpoint {
  readonly number: number
  readonly held: ReadonlyMap<VolumeId, HeldCheckpoint>
  /** Upper bound of the time whose writes are lost, over all volumes; undefined if one of them has no bound. */
  readonly lossMs: number | undefined
}

export type AnswerOf = (volume: VolumeId) => PromiseAnswer | undefined

/** Undefined if the node holds no such checkpoint. */
export function commonCheckpoint(
  volumes: readonly VolumeRecord[],
  nodeId: NodeId,
  answerOf: AnswerOf,
): CommonCheckpoint | undefined {
  const byVolume = volumes.map((volume) => checkpointsIn(volume, answerOf(volume.id)))
  const [first, ...others] = byVolume
  const numbers = [...(first?.keys() ?? [])].filter((number) => others.every((held) => held.has(number)))
  if (numbers.length === 0) return undefined
  const number = Math.max(...numbers)
  const held = new Map<VolumeId, HeldCheckpoint>()
  for (const [at, { id }] of volumes.entries()) {
    const found = byVolume[at]?.get(number)
    if (found !== undefined) held.set(id, found)
  }
  return { number, held, lossMs: lossOfAll(volumes, nodeId, answerOf, held) }
}

/** The checkpoints of the volume's lineage, by their number. */
function checkpointsIn(volume: VolumeRecord, answer: PromiseAnswer | undefined): Map<number, HeldCheckpoint> {
  const own = (answer?.held ?? []).filter((checkpoint) => isInLineage(volume, checkpoint))
  const ascending = own.toSorted((one, other) => one.epoch - other.epoch)
  return new Map(ascending.map((checkpoint) => [checkpoint.number, checkpoint]))
}

/**
 * Whether the present primary continued with the bytes of the checkpoint. Later checkpoints of an earlier epoch were left
 * behind by a promotion. A checkpoint older than the remembered promotions counts as left behind. An epoch that began
 * without a checkpoint (`from`) continued with all data of the one before.
 */
export function isInLineage(
  { primary, from, promotions = [] }: Pick<VolumeRecord, 'primary' | 'from' | 'promotions'>,
  { epoch, number }: Pick<HeldCheckpoint, 'epoch' | 'number'>,
): boolean {
  if (primary === null || epoch > primary.epoch) return false
  if (epoch === primary.epoch) return true
  const isForgotten = promotions.length >= MOST_PROMOTIONS && epoch < (promotions.at(-1)?.fromEpoch ?? 0)
  const limits = promotions.filter(({ fromEpoch }) => fromEpoch >= epoch).map(({ checkpoint }) => checkpoint)
  return !isForgotten && number <= Math.min(from?.number ?? Number.POSITIVE_INFINITY, ...limits)
}

/** The most promotions that a record remembers. */
export const MOST_PROMOTIONS = 10

function lossOfAll(
  volumes: readonly VolumeRecord[],
  nodeId: NodeId,
  answerOf: AnswerOf,
  held: ReadonlyMap<VolumeId, HeldCheckpoint>,
): number | undefined {
  const losses = volumes.map((volume) => {
    const [record, answer] = [groupRecordOf(volume), answerOf(volume.id)]
    return record && answer && lossOf(record, voteOf(nodeId, answer, held.get(volume.id), undefined))
  })
  return largest(losses)
}

/** The largest number; undefined if one of them is unknown. */
export function largest(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined)
  return known.length < numbers.length ? undefined : Math.max(...known)
}

/** The vote of a node for the promotion of one volume, as the reducers read it. */
export function voteOf(
  from: NodeId,
  { epoch, cv, lastWriteBy }: PromiseAnswer,
  chosen: HeldCheckpoint | undefined,
  force: Force | undefined,
): Vote {
  return { kind: 'vote', from, epoch, cv, cause: 'expired', held: stamped(chosen), lastWriteBy, force }
}

/** Without the time of the checkpoint, nothing is known about the loss. */
function stamped(chosen: HeldCheckpoint | undefined): Checkpoint | undefined {
  return chosen?.takenAt && { epoch: chosen.epoch, number: chosen.number, takenAt: chosen.takenAt }
}
