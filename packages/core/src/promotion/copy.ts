// A copy of a volume group: promises, votes and received checkpoints (docs/design/promotion.md#copy).

import type { GroupRecord } from './group-record.ts'
import {
  type Checkpoint,
  isNewer,
  type Prepare,
  type Release,
  type Renew,
  type Ship,
  type Stamp,
  type Step,
  type Vote,
} from './messages.ts'
import type { PromotionTimings } from './timings.ts'

/** Synced to disk before a vote or an acknowledged checkpoint leaves. */
export interface CopyDurable {
  readonly epoch: number
  /** The newest configuration version with which this copy voted or promised. */
  readonly cv: number
  /** The copy has voted with `cv`, and renewals of that version get no acknowledgment. */
  readonly prepared: boolean
  /** The newest checkpoint of each volume, in the order of the group's volumes. */
  readonly held: readonly (Checkpoint | undefined)[]
}

export interface CopyState {
  readonly node: string
  readonly volumes: readonly string[]
  readonly durable: CopyDurable
  /** Number of this start of the agent. */
  readonly start: number
  /** Until this time on its own clock, the copy does not vote unless it is released. */
  readonly promisedUntilMs: number
  /** The newest stamp of the primary that was acknowledged since this start. */
  readonly lastAcked: Stamp | undefined
  /** `lastAcked` is newer than any stamp that an earlier start of this agent acknowledged. */
  readonly bounded: boolean
}

type Receive<M> = (state: CopyState, message: M, nowMs: number, timings: PromotionTimings) => Step<CopyState>

const ignore = (state: CopyState): Step<CopyState> => ({ state, send: [] })

/** After any start, the copy behaves as if it had promised at that moment, because it may have. */
export function startCopy(
  copy: Pick<CopyState, 'node' | 'volumes' | 'durable' | 'start'>,
  nowMs: number,
  timings: PromotionTimings,
): CopyState {
  const { node, volumes, durable, start } = copy
  const promisedUntilMs = nowMs + timings.promiseMs
  return { node, volumes, durable, start, promisedUntilMs, lastAcked: undefined, bounded: false }
}

export const onRenew: Receive<Renew> = (state, renew, nowMs, timings) => {
  const { durable } = state
  if (renew.epoch !== durable.epoch) return ignore(state)
  if (durable.prepared && renew.cv <= durable.cv) return ignore(state)
  const withdrawn = renew.cv > durable.cv ? { ...durable, cv: renew.cv, prepared: false } : durable
  const next: CopyState = {
    ...state,
    durable: withdrawn,
    promisedUntilMs: Math.max(state.promisedUntilMs, nowMs + timings.promiseMs),
    lastAcked: laterStamp(state.lastAcked, renew.sent),
    // A renewal that names this start was sent after it, so it is newer than those before the start.
    bounded: state.bounded || renew.start === state.start,
  }
  const { epoch, sent } = renew
  return {
    state: next,
    send: [{ kind: 'ack', from: state.node, to: renew.from, epoch, sent, start: state.start }],
  }
}

/** The later of two stamps of one machine. */
export function laterStamp(one: Stamp | undefined, other: Stamp): Stamp {
  if (one === undefined || other.boot > one.boot) return other
  return other.boot === one.boot && other.ms > one.ms ? other : one
}

export const onPrepare: Receive<Prepare> = (state, { epoch, cv, force }, nowMs, timings) => {
  if (epoch !== state.durable.epoch || cv < state.durable.cv) return ignore(state)
  if (nowMs < state.promisedUntilMs) return ignore(state)
  return vote(state, cv, 'expired', timings, force)
}

/** The primary has abdicated, so the copy need not wait. Its promise stays, in case the handover is canceled. */
export const onRelease: Receive<Release> = (state, { epoch, cv, final }, _nowMs, timings) => {
  if (epoch !== state.durable.epoch || cv < state.durable.cv) return ignore(state)
  const held = heldCheckpoint(state)
  if (held === undefined || held.number < final) return ignore(state)
  return vote(state, cv, 'released', timings, undefined)
}

function vote(
  state: CopyState,
  cv: number,
  cause: Vote['cause'],
  timings: PromotionTimings,
  force: Vote['force'],
): Step<CopyState> {
  const { node: from, durable } = state
  const sent: Vote = {
    kind: 'vote',
    from,
    epoch: durable.epoch,
    cv,
    cause,
    held: heldCheckpoint(state),
    lastWriteBy: lastWriteOf(state, timings),
    force,
  }
  return { state: { ...state, durable: { ...durable, cv, prepared: true } }, send: [sent] }
}

/** The last moment at which the primary can have written, on its clock; undefined if the copy cannot bound it. */
export const lastWriteOf = (
  { lastAcked, bounded }: CopyState,
  { leaseMs }: PromotionTimings,
): Stamp | undefined =>
  lastAcked && bounded ? { boot: lastAcked.boot, ms: lastAcked.ms + leaseMs } : undefined

/** Stores the bytes of one volume. The checkpoint is acknowledged when the copy holds it for every volume. */
export const onShip: Receive<Ship> = (state, { from, volume, checkpoint }) => {
  const { durable } = state
  if (checkpoint.epoch < durable.epoch) return ignore(state)
  if (durable.prepared && checkpoint.epoch === durable.epoch) return ignore(state)
  const at = state.volumes.indexOf(volume)
  const before = durable.held[at]
  const isNew = before === undefined || isNewer(checkpoint, before)
  const held = isNew ? durable.held.with(at, checkpoint) : durable.held
  const next = withDurable(enterEpoch(state, checkpoint.epoch), { held })
  const complete = heldCheckpoint(next)
  if (complete === undefined || isNewer(checkpoint, complete)) return ignore(next)
  return { state: next, send: [{ kind: 'stored', from: state.node, to: from, checkpoint }] }
}

/** The newest checkpoint that the copy holds for every volume of its group. */
export function heldCheckpoint({ durable }: CopyState): Checkpoint | undefined {
  let common = durable.held[0]
  for (const each of durable.held) {
    if (each === undefined) return undefined
    if (common === undefined || isNewer(common, each)) common = each
  }
  return common
}

/** Reads the stored record: a vote of an earlier configuration can no longer succeed, so the copy may promise again. */
export function onCopyConfigured(
  state: CopyState,
  { epoch, cv }: Pick<GroupRecord, 'epoch' | 'cv'>,
): CopyState {
  const { durable } = state
  if (epoch < durable.epoch || (epoch === durable.epoch && cv <= durable.cv)) return state
  return withDurable(enterEpoch(state, epoch), { cv, prepared: false })
}

const withDurable = (state: CopyState, changes: Partial<CopyDurable>): CopyState => ({
  ...state,
  durable: { ...state.durable, ...changes },
})

/** A vote and the stamps of an earlier epoch mean nothing in a new one. */
const enterEpoch = (state: CopyState, epoch: number): CopyState =>
  epoch === state.durable.epoch
    ? state
    : withDurable({ ...state, lastAcked: undefined, bounded: false }, { epoch, prepared: false })
