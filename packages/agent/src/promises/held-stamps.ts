// The times of the checkpoints that this node has received, on the clock of their primary. They are in memory only: after a
// restart this node cannot bound the loss anyway until its primary has renewed, and that primary confirms the times again.

import type { VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import { laterStamp } from '@holdfast/core/promotion/copy'
import type { PeerStamp } from '../peer/messages.ts'

/** Most checkpoints of a volume whose times are kept; the oldest is dropped. */
const MAX_STAMPS = 8

export interface HeldStamps {
  of(volume: VolumeId, checkpoint: VolumeCheckpoint): PeerStamp | undefined
  /** The checkpoint has everything that was written before this time. */
  note(volume: VolumeId, checkpoint: VolumeCheckpoint, stamp: PeerStamp): void
  keepOnly(volumes: ReadonlyMap<VolumeId, unknown>): void
}

export function createHeldStamps(): HeldStamps {
  const stamps = new Map<VolumeId, Map<string, PeerStamp>>()
  const nameOf = ({ epoch, number }: VolumeCheckpoint): string => `${epoch}.${number}`
  return {
    of: (volume, checkpoint) => stamps.get(volume)?.get(nameOf(checkpoint)),
    note(volume, checkpoint, stamp) {
      const ofVolume = stamps.get(volume) ?? new Map<string, PeerStamp>()
      const name = nameOf(checkpoint)
      const latest = laterStamp(ofVolume.get(name), stamp)
      ofVolume.delete(name)
      stamps.set(volume, ofVolume.set(name, latest))
      const [oldest] = ofVolume.keys()
      if (ofVolume.size > MAX_STAMPS && oldest !== undefined) ofVolume.delete(oldest)
    },
    keepOnly(volumes) {
      for (const volume of stamps.keys()) if (!volumes.has(volume)) stamps.delete(volume)
    },
  }
}
