// May this node store a checkpoint that another node offers? Only for a copy that it must hold as a replica, only from the
// node that the server named as the primary, and only forward.

import type { DesiredCopy, NodeId, VolumeCheckpoint } from '@holdfast/contract'
import { compareCheckpoints, newestCheckpoint } from '../copies/checkpoint-order.ts'
import { includesCheckpoint } from './checkpoints.ts'

/**
 * `no_copy`: this node must hold no copy of the volume. `not_replica`: this node is its primary. `not_primary`: the sender
 * is not. `old_epoch`, `unknown_epoch`: sender and receiver know different primaries. `old_checkpoint`: this node has a
 * newer one. `unknown_base`: this node lacks the base. `no_room`: its pool is full.
 */
export type IncomingRefusal =
  | 'no_copy'
  | 'not_replica'
  | 'not_primary'
  | 'old_epoch'
  | 'unknown_epoch'
  | 'old_checkpoint'
  | 'unknown_base'
  | 'no_room'

export interface Offer {
  readonly from: NodeId
  readonly epoch: number
}

export interface OfferedCheckpoint extends Offer {
  readonly number: number
  readonly base?: VolumeCheckpoint
}

export type IncomingVerdict =
  | { readonly kind: 'accept'; readonly maxBytes: number }
  | { readonly kind: 'held' }
  | { readonly kind: 'refuse'; readonly reason: IncomingRefusal }

/** A stream carries names and commands beside the data, and the data of a volume may be twice its size. */
const STREAM_FACTOR = 3
const STREAM_BASE_BYTES = 64 * 1024 ** 2
export const maxStreamBytes = (sizeBytes: number): number => STREAM_FACTOR * sizeBytes + STREAM_BASE_BYTES

/** Why a node may not replicate the volume to this one; undefined if it may. */
export function refuseSender(
  { from, epoch }: Offer,
  copy: DesiredCopy | undefined,
  held: readonly VolumeCheckpoint[],
): IncomingRefusal | undefined {
  if (copy === undefined || copy.desired !== 'present') return 'no_copy'
  if (copy.role !== 'replica') return 'not_replica'
  if (copy.peers.length !== 1 || copy.peers[0] !== from) return 'not_primary'
  const known = Math.max(copy.epoch, newestCheckpoint(held)?.epoch ?? 0)
  if (epoch < known) return 'old_epoch'
  return epoch > copy.epoch ? 'unknown_epoch' : undefined
}

export function judgeIncoming(
  offer: OfferedCheckpoint,
  copy: DesiredCopy | undefined,
  held: readonly VolumeCheckpoint[],
): IncomingVerdict {
  const refusal = refuseSender(offer, copy, held)
  if (refusal !== undefined || copy === undefined) return refuse(refusal ?? 'no_copy')
  if (includesCheckpoint(held, offer)) return { kind: 'held' }
  const newest = newestCheckpoint(held)
  if (newest !== undefined && compareCheckpoints(offer, newest) < 0) return refuse('old_checkpoint')
  if (offer.base !== undefined && !includesCheckpoint(held, offer.base)) return refuse('unknown_base')
  return { kind: 'accept', maxBytes: maxStreamBytes(copy.sizeBytes) }
}

const refuse = (reason: IncomingRefusal): IncomingVerdict => ({ kind: 'refuse', reason })

/** Space that a pool needs for a stream of unknown length; a large pool needs no more than the second. */
const LEAST_FREE = { share: 0.03, bytes: 1024 ** 3 }

/** Whether a pool can begin to receive a stream: one that is full would fail after the bytes were sent. */
export const hasRoomForStream = (pool: { readonly poolBytes: number; readonly usedBytes: number }): boolean =>
  pool.poolBytes - pool.usedBytes >= Math.min(LEAST_FREE.share * pool.poolBytes, LEAST_FREE.bytes)
