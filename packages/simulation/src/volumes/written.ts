// The bytes of simulated volumes. A volume's content is the chain of all writes into it, so loss and mixing are visible:
// content that lacks a write, or has two different writes after the same one.

import type { AssignmentId, NodeId, VolumeCheckpoint, VolumeId } from '@holdfast/contract'

export interface WriteTime {
  /** Virtual milliseconds since 1970. */
  readonly atMs: number
  /** The boot of the machine and the time on its clock. */
  readonly boot: number
  readonly clockMs: number
}

export interface Written {
  /** Counts the writes of the volume on all nodes; 0 for the creation of an empty volume. */
  readonly number: number
  /** The container that wrote; undefined for the creation. */
  readonly by: AssignmentId | undefined
  /** The epoch of the copy that was written. */
  readonly epoch: number
  /** The address of the machine that was written on; empty for the creation. */
  readonly on: string
  /** Time of the write; undefined for the creation. */
  readonly time: WriteTime | undefined
  /** The content before the write; undefined for the creation. */
  readonly before: Written | undefined
}

/** Whether the content has the write, and with it everything that was written before. */
export function includesWrite(content: Written | undefined, sought: Written): boolean {
  let one = content
  while (one !== undefined && one !== sought && one.number >= sought.number) one = one.before
  return one === sought
}

/** A write into content that lacked an earlier write of the same epoch. */
export interface Fork {
  readonly write: Written
  readonly lacked: Written
}

/** The newest checkpoint that a node has acknowledged to the primary. */
export interface Acknowledgment extends VolumeCheckpoint {
  readonly content: Written
}

export interface WriteLog {
  /** Writes into a copy. The container knows at once that the write succeeded. Returns the new content. */
  write(
    volume: VolumeId,
    by: AssignmentId,
    where: Pick<Written, 'epoch' | 'on' | 'time'>,
    before: Written,
  ): Written
  /** The newest write of each epoch of a volume, on whichever node. */
  newest(volume: VolumeId): ReadonlyMap<number, Written>
  forks(volume: VolumeId): readonly Fork[]
  /** Notes that the primary knows that a node holds a checkpoint. */
  acknowledge(volume: VolumeId, nodeId: NodeId, checkpoint: Acknowledgment): void
  acknowledged(volume: VolumeId): ReadonlyMap<NodeId, Acknowledgment>
}

export const emptyContent = (epoch: number): Written => ({
  number: 0,
  by: undefined,
  epoch,
  on: '',
  time: undefined,
  before: undefined,
})

export function createWriteLog(): WriteLog {
  const newest = new Map<VolumeId, Map<number, Written>>()
  const forks = new Map<VolumeId, Fork[]>()
  const acknowledged = new Map<VolumeId, Map<NodeId, Acknowledgment>>()
  const numbers = new Map<VolumeId, number>()
  return {
    write(volume, by, where, before) {
      const number = (numbers.get(volume) ?? 0) + 1
      numbers.set(volume, number)
      const ofVolume = newest.get(volume) ?? new Map<number, Written>()
      newest.set(volume, ofVolume)
      const last = ofVolume.get(where.epoch)
      const write: Written = { number, by, before, ...where }
      ofVolume.set(where.epoch, write)
      if (last !== undefined && !includesWrite(before, last))
        forks.set(volume, [...(forks.get(volume) ?? []), { write, lacked: last }])
      return write
    },
    newest: (volume) => newest.get(volume) ?? new Map(),
    forks: (volume) => forks.get(volume) ?? [],
    acknowledge(volume, nodeId, checkpoint) {
      const ofVolume = acknowledged.get(volume) ?? new Map<NodeId, Acknowledgment>()
      acknowledged.set(volume, ofVolume.set(nodeId, checkpoint))
    },
    acknowledged: (volume) => acknowledged.get(volume) ?? new Map(),
  }
}
