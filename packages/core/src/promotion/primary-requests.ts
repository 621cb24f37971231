// Requests of a primary: to drop or add a promotable node, to ship a checkpoint, to hand its group over or to cancel that.

import type { Message, Shrink, Stamp, Step } from './messages.ts'
import { hasAbdicated, ignore, type PrimaryState, requiredNodes } from './primary.ts'
import type { PromotionTimings } from './timings.ts'

/**
 * Asks to drop the nodes that have not answered for a while. Their promises are needed until the answer arrives. `sinceMs`:
 * since when the primary has asked for promises; no node is silent earlier than after that.
 */
export function shrinkSilent(
  state: PrimaryState,
  nowMs: number,
  { shrinkAfterMs }: PromotionTimings,
  sinceMs = Number.NEGATIVE_INFINITY,
): readonly Shrink[] {
  if (state.durable.handover !== undefined) return []
  const isSilent = (node: string) =>
    nowMs - Math.max(state.lease.get(node) ?? sinceMs, sinceMs) >= shrinkAfterMs
  return requiredNodes(state)
    .filter(isSilent)
    .map((node) => ({ kind: 'shrink', from: state.node, epoch: state.durable.epoch, node }))
}

/** Needs the promise of a current copy first, durably, and asks then. */
export function growBy(
  state: PrimaryState,
  node: string,
  nowMs: number,
  { leaseMs, fenceMs }: PromotionTimings,
): Step<PrimaryState> {
  const { durable } = state
  const isCurrent = state.stored.get(node) === durable.checkpoint
  const isPromised = nowMs < (state.lease.get(node) ?? Number.NEGATIVE_INFINITY) + leaseMs - fenceMs
  if (!isCurrent || !isPromised || durable.handover !== undefined || durable.configured.includes(node))
    return ignore(state)
  const asked = durable.asked.includes(node) ? durable.asked : [...durable.asked, node].sort()
  const { epoch, cv } = durable
  return {
    state: { ...state, durable: { ...durable, asked } },
    send: [{ kind: 'grow', from: state.node, epoch, cv, node }],
  }
}

/** Numbers a new checkpoint. The caller has taken the snapshots of all volumes with the writers frozen. */
export const takeCheckpoint = (state: PrimaryState): PrimaryState => ({
  ...state,
  durable: { ...state.durable, checkpoint: state.durable.checkpoint + 1 },
})

/** The bytes of the newest checkpoint, one message for each volume. */
export const shipCheckpoint = (
  { node: from, durable }: PrimaryState,
  to: string,
  volumes: readonly string[],
  takenAt: Stamp,
): readonly Message[] =>
  volumes.map((volume) => ({
    kind: 'ship',
    from,
    to,
    volume,
    checkpoint: { epoch: durable.epoch, number: durable.checkpoint, takenAt },
  }))

/** Drops the lease durably and takes the final checkpoint. The caller has stopped the writers. */
export function abdicate(state: PrimaryState): PrimaryState {
  const { durable } = state
  if (durable.handover === undefined || durable.handover.abdicated) return state
  const handover = { ...durable.handover, abdicated: true }
  return takeCheckpoint({ ...state, lease: new Map(), durable: { ...durable, handover } })
}

/** Releases the successor once it holds the final checkpoint. */
export function releaseSuccessor(state: PrimaryState): readonly Message[] {
  const { epoch, handover, checkpoint: final } = state.durable
  if (handover === undefined || !hasAbdicated(state) || state.stored.get(handover.to) !== final) return []
  return [{ kind: 'release', to: handover.to, epoch, cv: handover.cv, final }]
}

/** Asks for the transaction that cancels the handover. The primary stays abdicated until that has committed. */
export function requestCancel(state: PrimaryState): Step<PrimaryState> {
  const { epoch, handover } = state.durable
  if (handover === undefined) return ignore(state)
  return { state, send: [{ kind: 'cancel', from: state.node, epoch, cv: handover.cv }] }
}
