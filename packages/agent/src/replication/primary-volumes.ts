// The volumes that this node replicates: those of which it is the primary, with complete data of the current epoch that
// it has not released.

import type { DesiredCopy, NodeId, VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import { newestOfGroup, type PrimaryFacts, takenAs } from '@holdfast/core/node'
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

/** Each volume with those that share its writer. Volumes without replicas need no checkpoints. */
export function groupVolumes(
  volumes: readonly PrimaryVolume[],
  groups: readonly (readonly VolumeId[])[],
): PrimaryVolume[][] {
  const replicated = volumes.filter(({ targets }) => targets.length > 0)
  const keyOf = ({ volume }: PrimaryVolume): string =>
    groups
      .find((group) => group.includes(volume))
      ?.toSorted()
      .join() ?? volume
  return [...Map.groupBy(replicated, keyOf).values()]
}

/** The newest checkpoint of each volume that every volume of its group has. */
export function wholeCheckpoints(
  volumes: readonly PrimaryVolume[],
  groups: readonly (readonly VolumeId[])[],
): ReadonlyMap<VolumeId, VolumeCheckpoint> {
  const found = new Map<VolumeId, VolumeCheckpoint>()
  for (const group of groupVolumes(volumes, groups)) {
    const number = newestOfGroup(group.map(({ facts }) => facts))
    for (const { volume, facts } of group) {
      const taken = takenAs(facts, number)
      if (taken !== undefined) found.set(volume, { epoch: taken.epoch, number: taken.number })
    }
  }
  return found
}
