// The bytes of simulated volumes. A volume's content is the chain of all writes into it, so loss and mixing are visible:
// content that lacks a write, or has two different writes after the same one.

import type { AssignmentId, VolumeId } from '@holdfast/contract'

export interface Written {
  /** Counts the writes of the volume on all nodes; 0 for the creation of an empty volume. */
  readonly number: number
  /** The container that wrote; undefined for the creation. */
  readonly by: AssignmentId | undefined
  /** The epoch of the copy that was written. */
  readonly epoch: number
  /** The content before the write; undefined for the creation. */
  readonly before: Written | undefined
}

/** Whether the content has the write, and with it everything that was written before. */
export function includesWrite(content: Written | undefined, sought: Written): boolean {
  let one = content
  while (one !== undefined && one !== sought && one.number >= sought.number) one = one.before
  return one === sought
}

/** A write into content that lacked an earlier write. */
export interface Fork {
  readonly write: Written
  readonly lacked: Written
}

export interface WriteLog {
  /** Writes into a copy. The container knows at once that the write succeeded. Returns the new content. */
  write(volume: VolumeId, by: AssignmentId, epoch: number, before: Written): Written
  /** The newest acknowledged write of a volume, on whichever node. */
  newest(volume: VolumeId): Written | undefined
  forks(volume: VolumeId): readonly Fork[]
}

export const emptyContent = (epoch: number): Written => ({
  number: 0,
  by: undefined,
  epoch,
  before: undefined,
})

export function createWriteLog(): WriteLog {
  const newest = new Map<VolumeId, Written>()
  const forks = new Map<VolumeId, Fork[]>()
  return {
    write(volume, by, epoch, before) {
      const last = newest.get(volume)
      const write = { number: (last?.number ?? 0) + 1, by, epoch, before }
      newest.set(volume, write)
      if (last !== undefined && !includesWrite(before, last))
        forks.set(volume, [...(forks.get(volume) ?? []), { write, lacked: last }])
      return write
    },
    newest: (volume) => newest.get(volume),
    forks: (volume) => forks.get(volume) ?? [],
  }
}
