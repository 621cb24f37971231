// Does a primary need a new checkpoint, and which checkpoints does it still need? A volume whose generation is not above
// that of its newest checkpoint has not changed since: creating a snapshot gives both the same generation.

import type { VolumeCheckpoint } from '@holdfast/contract'
import { includesCheckpoint, isSameCheckpoint, newestCommon, newestFirst } from './checkpoints.ts'

export interface OwnCheckpoint extends VolumeCheckpoint {
  readonly generation: number
  readonly origin: 'taken' | 'received'
}

export interface PrimaryFacts {
  readonly epoch: number
  /** The generation of the live volume after a flush. */
  readonly generation: number
  readonly own: readonly OwnCheckpoint[]
}

export interface ReplicaFacts {
  /** The complete checkpoints of the replica; undefined if it has not answered since the agent's start. */
  readonly held: readonly VolumeCheckpoint[] | undefined
  readonly inFlight: VolumeCheckpoint | undefined
  /** Time since its last answer, or since the agent's start. */
  readonly silentMs: number
}

/** A replica that has not answered for this long gets no new checkpoints until it answers. */
export const SILENT_MS = 40_000
/** The checkpoints for a silent replica are dropped after this time, or earlier if the pool is short of space. */
const FORGET_MS = 24 * 3_600_000
const LEAST_FREE_SHARE = 0.15

const takenIn = ({ epoch, own }: PrimaryFacts): OwnCheckpoint[] =>
  newestFirst(own.filter((one) => one.epoch === epoch && one.origin === 'taken'))

/** The newest checkpoint that this primary took in its epoch. */
export const newestTaken = (facts: PrimaryFacts): OwnCheckpoint | undefined => takenIn(facts)[0]

/**
 * The newest number that this primary took of every volume of a group. A higher number of one volume is left by an agent
 * that died before it took the others: it shows no state of the group, so it is not sent, and the next one replaces it.
 */
export function newestOfGroup(group: readonly PrimaryFacts[]): number | undefined {
  const [first = [], ...others] = group.map((facts) => takenIn(facts).map(({ number }) => number))
  return first.find((number) => others.every((numbers) => numbers.includes(number)))
}

/** The checkpoint of a volume with the number that its whole group has. */
export const takenAs = (facts: PrimaryFacts, number: number | undefined): OwnCheckpoint | undefined =>
  takenIn(facts).find((one) => one.number === number)

/** Whether the newest checkpoint has everything that was on disk at the flush. */
export function isClean(facts: PrimaryFacts): boolean {
  const newest = newestTaken(facts)
  return newest !== undefined && facts.generation <= newest.generation
}

/**
 * The checkpoint at the end of a round that has everything that was on disk at its flush: the newest one, if the volume was
 * clean or the round has taken it.
 */
export function completeCheckpoint(flushed: PrimaryFacts, after: PrimaryFacts): VolumeCheckpoint | undefined {
  const [before, newest] = [newestTaken(flushed), newestTaken(after)]
  const isNew = before === undefined || (newest !== undefined && !isSameCheckpoint(before, newest))
  return newest && (isClean(flushed) || isNew) ? { epoch: newest.epoch, number: newest.number } : undefined
}

/** A volume with its replicas. Volumes that one container writes form a group. */
export interface ReplicatedVolume {
  readonly facts: PrimaryFacts
  readonly replicas: readonly ReplicaFacts[]
}

/**
 * Whether to take a checkpoint of all volumes of a group: one of them has changed or has a newer one than the others, and
 * each has a replica that waits. Replicas that are silent or still receive an earlier checkpoint would only make checkpoints
 * pile up.
 */
export function needsCheckpoint(group: readonly ReplicatedVolume[]): boolean {
  const number = newestOfGroup(group.map(({ facts }) => facts))
  const isChanged = ({ facts }: ReplicatedVolume): boolean =>
    !isClean(facts) || newestTaken(facts)?.number !== number
  const hasWaiting = ({ facts, replicas }: ReplicatedVolume): boolean =>
    replicas.some((replica) => isWaiting(replica, takenAs(facts, number)))
  return group.some(isChanged) && group.every(hasWaiting)
}

function isWaiting(
  { held, inFlight, silentMs }: ReplicaFacts,
  newest: VolumeCheckpoint | undefined,
): boolean {
  if (held === undefined || inFlight !== undefined || silentMs > SILENT_MS) return false
  return newest === undefined || includesCheckpoint(held, newest)
}

/**
 * The checkpoints that a primary no longer needs. It keeps its newest one, and for each replica the one in flight and the
 * newest that both have, from which the next changes are computed.
 */
export function outdatedCheckpoints(
  facts: PrimaryFacts,
  replicas: readonly ReplicaFacts[],
  freeShare: number,
): VolumeCheckpoint[] {
  const { own } = facts
  const needed = replicas.filter((replica) => !isForgotten(replica, freeShare))
  if (needed.some(({ held }) => held === undefined)) return []
  const newest = needed.length === 0 ? [] : [newestTaken(facts)]
  const ofReplicas = needed.flatMap(({ held = [], inFlight }) => [inFlight, newestCommon(own, held)])
  const kept = [...newest, ...ofReplicas].filter((one) => one !== undefined)
  const outdated = own.filter((one) => !includesCheckpoint(kept, one))
  return outdated.map(({ epoch, number }) => ({ epoch, number }))
}

const isForgotten = ({ silentMs, inFlight }: ReplicaFacts, freeShare: number): boolean =>
  inFlight === undefined && (silentMs >= FORGET_MS || (silentMs > SILENT_MS && freeShare < LEAST_FREE_SHARE))
