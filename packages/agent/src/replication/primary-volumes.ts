// The volumes that this node replicates: those of which it is the primary, with complete data of the current epoch that
// it has not released.

import type { DesiredCopy, NodeId, VolumeId } from '@holdfast/contract'
import type { PrimaryFacts } from '@holdfast/core/node'
import type { LiveCopies } from '../ports/live-copies.ts'
import type { PoolContents } from '../ports/volume-pool.ts'

export interface PrimaryVolume {
  readonly volume: VolumeId
  readonly copy: DesiredCopy
  readonly targets: readonly NodeId[]
  readonly facts: PrimaryFacts
}

/** The nodes that get checkpoints: the replicas, and the successor of a handover. */
export const targetsOf = ({ peers, handOverTo }: DesiredCopy): NodeId[] => [
  ...new Set(handOverTo === undefined ? peers : [...peers, handOverTo]),
]

export function primaryVolumes(
  copies: Iterable<DesiredCopy>,
  { volumes, checkpoints }: PoolContents,
  live: Pick<LiveCopies, 'liveEpoch' | 'isReleased'>,
): PrimaryVolume[] {
  return [...copies].flatMap((copy) => {
    const { volume, epoch } = copy
    const found = volumes.find((one) => one.volume === volume)
    if (copy.role !== 'primary' || copy.desired !== 'present' || found === undefined) return []
    if (live.liveEpoch(volume) !== epoch || live.isReleased(volume)) return []
    const own = checkpoints.filter((one) => one.volume === volume)
    return [{ volume, copy, targets: targetsOf(copy), facts: { epoch, generation: found.generation, own } }]
  })
}
