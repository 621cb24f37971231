// The promise of a copy of one volume: the renewals that it acknowledges, and its answers to the controller.

import type { DesiredCopy, NodeId, PromiseAnswer, VolumeCheckpoint } from '@holdfast/contract'
import { refuseSender } from '../../node/replication/judge-incoming.ts'
import { type CopyState, onPrepare, onRenew, onShip } from '../copy.ts'
import type { Force, Stamp } from '../messages.ts'
import type { PromotionTimings } from '../timings.ts'

export interface Renewal {
  readonly from: NodeId
  readonly epoch: number
  readonly cv: number
  readonly sent: Stamp
  /** The start of this agent that the primary knows. */
  readonly start: number | undefined
}

/** The copy after a renewal that it acknowledges; undefined if it does not, such as for a node that is not its primary. */
export function acknowledge(
  copy: CopyState,
  desired: DesiredCopy | undefined,
  renewal: Renewal,
  nowMs: number,
  timings: PromotionTimings,
): CopyState | undefined {
  if (refuseSender(renewal, desired, []) !== undefined) return undefined
  const { state, send } = onRenew(copy, { ...renewal, kind: 'renew', to: copy.node }, nowMs, timings)
  return send.length > 0 ? state : undefined
}

/** The copy after it has voted; undefined if it does not vote. The vote leaves only after the copy is on disk. */
export function voteFor(
  copy: CopyState,
  { epoch, cv, force }: { readonly epoch: number; readonly cv: number; readonly force?: Force },
  nowMs: number,
  timings: PromotionTimings,
): CopyState | undefined {
  const { state, send } = onPrepare(
    copy,
    { kind: 'prepare', to: copy.node, epoch, cv, force },
    nowMs,
    timings,
  )
  return send.length > 0 ? state : undefined
}

/** Whether the copy may store a checkpoint: after a vote none of that epoch, which the vote does not list. */
export function mayStore(copy: CopyState, checkpoint: VolumeCheckpoint, timings: PromotionTimings): boolean {
  const [volume = ''] = copy.volumes
  const shipped = { ...checkpoint, takenAt: { boot: 0, ms: 0 } }
  const ship = { kind: 'ship', from: '', to: copy.node, volume, checkpoint: shipped } as const
  return (
    onShip({ ...copy, durable: { ...copy.durable, held: [undefined] } }, ship, 0, timings).send.length > 0
  )
}

export const isPromiseExpired = ({ promisedUntilMs }: CopyState, nowMs: number): boolean =>
  nowMs >= promisedUntilMs

export function promiseState(copy: CopyState, nowMs: number): PromiseAnswer['state'] {
  if (copy.durable.prepared) return 'voted'
  return isPromiseExpired(copy, nowMs) ? 'expired' : 'promised'
}
