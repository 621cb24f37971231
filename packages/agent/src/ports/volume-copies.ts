// The copies of volumes on this node as the parts of the agent that create containers use them.

import type { VolumeId } from '@holdfast/contract'

/** A copy that a container may mount. */
export interface MountableCopy {
  /** The mount point of the copy on this machine. */
  readonly path: string
  /** The epoch of the primary; a writer that was started under an earlier one must not run. */
  readonly epoch: number
}

export interface MountableCopies {
  /**
   * The copy of the volume if this node is its primary, the copy is as desired and no handover has begun. Otherwise
   * undefined: no container with a mount of the volume may be created or started.
   */
  mountPoint(volume: VolumeId): MountableCopy | undefined
  /** Calls the listener after the answer of mountPoint has changed for any volume. */
  onChange(listener: () => void): void
}
