// The machine as the agent uses it for containers with volumes, outside of engine and pool.

import type { VolumeId } from '@holdfast/contract'

export interface HostVolumes {
  /**
   * Whether the kernel has mounted this volume at the path. A folder at which nothing is mounted would be given to the
   * container in place of the volume.
   */
  isMounted(path: string, volume: VolumeId): Promise<boolean>
  /**
   * Ends an interrupted copy of an image's content. If the mounted volume is empty then, returns the folder for such a
   * copy; undefined if the volume has content.
   */
  openSeed(path: string): Promise<string | undefined>
  /** Makes the content of the folder of `openSeed` the content of the volume. */
  finishSeed(path: string): Promise<void>
  /** The cgroups below which writers of the volume run; empty if the kernel has none in which all can be killed. */
  writerCgroups(volume: string): readonly string[]
  /** Kills all processes below the cgroups. Returns whether there may have been any. */
  killWriters(cgroups: readonly string[]): boolean
  /** Removes the empty cgroups of writers, except those of the volumes to keep. Returns how many the kernel still holds. */
  removeEmptyCgroups(keep: ReadonlySet<VolumeId>): number
}
