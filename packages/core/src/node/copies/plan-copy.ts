// Plans the steps that bring one copy of a volume to its desired state, from what the pool holds. Every step can be
// repeated, so an agent that died between two steps plans again and continues. Data is deleted only if the server desires
// it, or if it was handed over; other data of an earlier epoch is put into quarantine. See docs/design/storage.md#copies-of-a-node

import type { DesiredCopy, ObservedCopy, VolumeCheckpoint } from '@holdfast/contract'
import { claimedBytes, sizeOfClaim } from '../../volumes/claimed-bytes.ts'
import { findCheckpoint, newestCheckpoint } from './checkpoint-order.ts'

/** The knowledge of the agent about a volume besides its data. The pool holds it, so a new agent on the same pool knows it too. */
export interface CopyNote {
  /** The highest epoch of the volume that this node knows. */
  readonly epoch: number
  /** The epoch to which the live data belongs; `isMade` once it was complete. Written before the live data is created. */
  readonly content?: { readonly epoch: number; readonly isMade: boolean }
  /** The handover after which this node no longer writes. The live data is equal to the checkpoint. */
  readonly released?: NonNullable<ObservedCopy['released']>
  /** Whether the pool has confirmed that nothing of the volume is left. */
  readonly isRemoved?: boolean
}

/** The part of the pool that belongs to one volume. */
export interface FoundCopy {
  readonly live:
    | { readonly limitBytes: number | undefined; readonly mountPoint: string | undefined }
    | undefined
  /** Complete checkpoints only. */
  readonly checkpoints: readonly VolumeCheckpoint[]
  readonly note: CopyNote | undefined
  /** Whether the pool has quarantined data of the volume. */
  readonly isQuarantined?: boolean
}

export interface CopyFacts {
  /** Whether a server has sent the desired copy since the agent started. Without it, no data is created or deleted. */
  readonly isConfirmed: boolean
  /** Whether the pool has room for a new copy. */
  readonly hasRoom: boolean
  /** Whether a fence keeps the live data unmounted: a fencer would unmount it again. */
  readonly isFenced?: boolean
}

export type CopyAction =
  | { readonly kind: 'note'; readonly note: CopyNote }
  | { readonly kind: 'provision'; readonly limitBytes: number }
  | { readonly kind: 'restore'; readonly from: VolumeCheckpoint }
  /** Deletes the live data and keeps the checkpoints. */
  | { readonly kind: 'retire' }
  /** Puts the live data of an epoch into quarantine and keeps the checkpoints. */
  | { readonly kind: 'quarantine'; readonly epoch: number }
  /** Deletes everything of the volume. */
  | { readonly kind: 'remove' }

export interface CopyPlan {
  /** Steps in order; empty if the copy is as desired or cannot become so. */
  readonly actions: readonly CopyAction[]
  /** The copy as it was found. */
  readonly observed: ObservedCopy
}

/** Plans a copy; undefined if its epoch is below the known one, so it must be ignored. */
export function planCopy(desired: DesiredCopy, found: FoundCopy, facts: CopyFacts): CopyPlan | undefined {
  if (desired.epoch < (found.note?.epoch ?? 0)) return undefined
  if (desired.desired === 'removed') return planRemoval(desired, found, facts)
  return desired.role === 'primary' ? planPrimary(desired, found, facts) : planReplica(desired, found, facts)
}

/** A copy about which nothing was observed but the fault. Its last known size and checkpoint stay valid. */
export const copyWithFault = (
  { volume, epoch }: DesiredCopy,
  reason: string,
  last: ObservedCopy | undefined,
): ObservedCopy => ({ sizeBytes: 0, ...last, volume, epoch, state: 'failed', reason })

function observe(
  { volume, epoch, role }: DesiredCopy,
  { live, checkpoints }: FoundCopy,
  state: ObservedCopy['state'],
  reason: string,
): ObservedCopy {
  const checkpoint = role === 'replica' ? newestCheckpoint(checkpoints) : undefined
  const sizeBytes = sizeOfClaim(live?.limitBytes ?? 0)
  return { volume, epoch, state, sizeBytes, reason, ...(checkpoint && { checkpoint }) }
}

function planRemoval(desired: DesiredCopy, found: FoundCopy, { isConfirmed }: CopyFacts): CopyPlan {
  const { live, checkpoints, note } = found
  const isEmpty = live === undefined && checkpoints.length === 0 && found.isQuarantined !== true
  if (isEmpty && note?.isRemoved) return { actions: [], observed: observe(desired, found, 'removed', '') }
  const removed: CopyAction = { kind: 'note', note: { epoch: desired.epoch, isRemoved: true } }
  const actions: readonly CopyAction[] = isConfirmed ? [{ kind: 'remove' }, removed] : []
  return { actions, observed: observe(desired, found, 'pending', '') }
}

function planReplica(desired: DesiredCopy, found: FoundCopy, { isConfirmed }: CopyFacts): CopyPlan {
  const { live, checkpoints, note } = found
  const { content, released, isRemoved: _removed, ...kept } = note ?? {}
  const isEarlier = live !== undefined && (content?.epoch ?? 0) < desired.epoch
  const cleared = isEarlier && (released !== undefined || isConfirmed) ? [clearLive(note)] : []
  const isCleared = live === undefined || cleared.length > 0
  const left = isCleared ? {} : { ...(content && { content }), ...(released && { released }) }
  const next: CopyNote = { ...kept, epoch: desired.epoch, ...left }
  const noted: readonly CopyAction[] = isSame(note, next) ? [] : [{ kind: 'note', note: next }]
  const isFilled = checkpoints.length > 0
  const state = isFilled ? 'present' : 'pending'
  const sizeBytes = isFilled ? desired.sizeBytes : 0
  const observed = { ...observe(desired, found, state, isFilled ? '' : 'no_checkpoint'), sizeBytes }
  return { actions: [...cleared, ...noted], observed }
}

/**
 * Removes the live data from its place before data of a later epoch is created. Data that was not handed over may be the
 * only place of the last writes: it is put into quarantine.
 */
const clearLive = (note: CopyNote | undefined): CopyAction =>
  note?.released === undefined ? { kind: 'quarantine', epoch: note?.content?.epoch ?? 0 } : { kind: 'retire' }

function planPrimary(desired: DesiredCopy, found: FoundCopy, facts: CopyFacts): CopyPlan {
  const { live, note } = found
  const failed = (reason: string): CopyPlan => ({
    actions: [],
    observed: observe(desired, found, 'failed', reason),
  })
  if (live === undefined) {
    const reason = refusalToCreate(desired, found, facts)
    if (reason !== undefined) return failed(reason)
    const actions = facts.isConfirmed ? creation(desired, note) : []
    return { actions, observed: observe(desired, found, 'pending', '') }
  }
  if (isOfEarlierEpoch(desired, note)) {
    if (findCheckpoint(found.checkpoints, desired.from) === undefined) return failed('content_missing')
    const actions: readonly CopyAction[] = facts.isConfirmed
      ? [clearLive(note), ...creation(desired, note)]
      : []
    return { actions, observed: observe(desired, found, 'pending', '') }
  }
  return planExisting(desired, found, facts)
}

/** Whether the live data is from before the checkpoint that must become the content. */
const isOfEarlierEpoch = ({ epoch, from }: DesiredCopy, note: CopyNote | undefined): boolean =>
  from !== undefined && (note?.content?.epoch ?? 0) < epoch

/** Why the data of a primary must not be created: it existed and is lost, or there is nothing to create it from. */
function refusalToCreate(
  { epoch, from, mayCreate }: DesiredCopy,
  { checkpoints, note }: FoundCopy,
  { hasRoom }: CopyFacts,
): string | undefined {
  const wasMade = note?.content?.isMade === true && note.content.epoch >= epoch
  if (wasMade) return 'content_missing'
  if (from !== undefined) return findCheckpoint(checkpoints, from) ? undefined : 'content_missing'
  if (!mayCreate) return 'content_missing'
  return hasRoom ? undefined : 'no_room'
}

/** The steps that create the data. The note comes first, so data without a complete creation is recognized. */
function creation({ epoch, from, sizeBytes }: DesiredCopy, note: CopyNote | undefined): CopyAction[] {
  const { released: _released, isRemoved: _removed, ...kept } = note ?? {}
  const noteWith = (isMade: boolean): CopyAction => ({
    kind: 'note',
    note: { ...kept, epoch, content: { epoch, isMade } },
  })
  const restored: readonly CopyAction[] = from === undefined ? [] : [{ kind: 'restore', from }]
  const limitBytes = claimedBytes(sizeBytes)
  return [noteWith(false), ...restored, { kind: 'provision', limitBytes }, noteWith(true)]
}

/** The data exists: it gets its limit and its mount point. Its note says from now on that it must not be created again. */
function planExisting(desired: DesiredCopy, found: FoundCopy, { isFenced }: CopyFacts): CopyPlan {
  const { epoch, sizeBytes } = desired
  const { live, note } = found
  const limitBytes = claimedBytes(sizeBytes)
  const isProvisioned =
    isFenced === true || (live?.limitBytes === limitBytes && live.mountPoint !== undefined)
  const { released, isRemoved: _removed, ...kept } = note ?? {}
  // A release holds for the epoch in which it was made.
  const stillReleased = released !== undefined && note?.epoch === epoch ? { released } : {}
  const next: CopyNote = { ...kept, epoch, content: { epoch, isMade: true }, ...stillReleased }
  const isNoted = isSame(note, next)
  const provisioned: readonly CopyAction[] = isProvisioned ? [] : [{ kind: 'provision', limitBytes }]
  const noted: readonly CopyAction[] = isNoted ? [] : [{ kind: 'note', note: next }]
  const observed = observe(desired, found, isProvisioned && isNoted ? 'present' : 'pending', '')
  return { actions: [...provisioned, ...noted], observed: { ...observed, ...stillReleased } }
}

function isSame(note: CopyNote | undefined, next: CopyNote): boolean {
  return (
    note?.epoch === next.epoch &&
    note.content?.epoch === next.content?.epoch &&
    note.content?.isMade === next.content?.isMade &&
    (note.released === undefined) === (next.released === undefined) &&
    note.isRemoved !== true
  )
}

/**
 * Whether the server need not hear of the copy again. The number of the newest checkpoint does not matter: it increases
 * every few seconds.
 */
export function isSameReport(left: ObservedCopy | undefined, right: ObservedCopy): boolean {
  const short = ({ checkpoint, ...copy }: ObservedCopy): string =>
    JSON.stringify({ ...copy, checkpointEpoch: checkpoint?.epoch })
  return left !== undefined && short(left) === short(right)
}

/** Whether containers may mount the copy. A limit that is not yet the desired one does not matter. */
export function isMountable(desired: DesiredCopy, { live, note }: FoundCopy): boolean {
  return (
    desired.desired === 'present' &&
    desired.role === 'primary' &&
    desired.handOverTo === undefined &&
    live?.mountPoint !== undefined &&
    live.limitBytes !== undefined &&
    note?.epoch === desired.epoch &&
    note.content?.epoch === desired.epoch &&
    note.content.isMade &&
    note.released === undefined
  )
}
