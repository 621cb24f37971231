// The order of the checkpoints of one volume: by epoch, then by number within the epoch.

import type { VolumeCheckpoint } from '@holdfast/contract'

export const compareCheckpoints = (left: VolumeCheckpoint, right: VolumeCheckpoint): number =>
  left.epoch - right.epoch || left.number - right.number

export function newestCheckpoint(checkpoints: readonly VolumeCheckpoint[]): VolumeCheckpoint | undefined {
  const newest = checkpoints.toSorted(compareCheckpoints).at(-1)
  return newest && { epoch: newest.epoch, number: newest.number }
}

export const findCheckpoint = (
  checkpoints: readonly VolumeCheckpoint[],
  sought: VolumeCheckpoint | undefined,
): VolumeCheckpoint | undefined => sought && checkpoints.find((one) => compareCheckpoints(one, sought) === 0)
