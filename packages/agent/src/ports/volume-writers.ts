// The containers that write volumes, as the replication of volumes uses them.

import type { VolumeId } from '@holdfast/contract'

export interface VolumeWriters {
  /** Volumes that one container writes together; a volume with a writer of its own may be absent. */
  groups(): readonly (readonly VolumeId[])[]
  /** Whether a container that may write the volume exists, running or not. Rejects if that cannot be observed. */
  hasWriter(volume: VolumeId): Promise<boolean>
  /** Stops all processes that write the volumes until the returned function is called. */
  freeze(volumes: readonly VolumeId[]): Promise<() => Promise<void>>
}
