// The live data of primaries, as the replication of volumes uses it.

import type { ObservedCopy, VolumeId } from '@holdfast/contract'

export type Released = NonNullable<ObservedCopy['released']>

export interface LiveCopies {
  /**
   * The epoch whose data the live volume holds; undefined if there is none or it is incomplete. Data of another epoch must
   * never become a checkpoint of this one.
   */
  liveEpoch(volume: VolumeId): number | undefined
  /** Whether this node has released the volume in the epoch of its live data. */
  isReleased(volume: VolumeId): boolean
  /**
   * Notes on disk that this node no longer writes the volume in this epoch. It holds when the call resolves. Rejects after a
   * deadline; then `isReleased` shows after the next pass whether the note was written.
   */
  release(volume: VolumeId, released: Released): Promise<void>
}
