// Comparisons of checkpoints of two nodes. Two checkpoints of a volume with the same epoch and number have the same content
// on every node.

import type { VolumeCheckpoint } from '@holdfast/contract'
import { compareCheckpoints, newestCheckpoint } from '../copies/checkpoint-order.ts'

export const isSameCheckpoint = (a: VolumeCheckpoint, b: VolumeCheckpoint): boolean =>
  compareCheckpoints(a, b) === 0

export const includesCheckpoint = (list: readonly VolumeCheckpoint[], one: VolumeCheckpoint): boolean =>
  list.some((each) => isSameCheckpoint(each, one))

export const newestFirst = <T extends VolumeCheckpoint>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => compareCheckpoints(b, a))

/** The newest checkpoint that both nodes have; undefined if they have none in common. */
export const newestCommon = (
  own: readonly VolumeCheckpoint[],
  held: readonly VolumeCheckpoint[],
): VolumeCheckpoint | undefined => newestCheckpoint(own.filter((one) => includesCheckpoint(held, one)))

/** The checkpoint whose changes are sent; undefined: the target is sent in full. */
export const baseOf = (
  own: readonly VolumeCheckpoint[],
  held: readonly VolumeCheckpoint[],
  target: VolumeCheckpoint,
): VolumeCheckpoint | undefined =>
  newestCommon(
    own.filter((one) => compareCheckpoints(one, target) < 0),
    held,
  )

/**
 * The number of the next checkpoint. It is higher than every number that this node has used or that a replica has, because a
 * number that is used twice would name two contents. Numbers continue across epochs: those of a group order the states of
 * all its volumes, whose epochs differ.
 */
export const nextNumber = (known: readonly VolumeCheckpoint[]): number =>
  Math.max(0, ...known.map(({ number }) => number)) + 1

/** The number of checkpoints that a replica keeps: the newest one and its base. */
const KEPT_BY_REPLICA = 2

/**
 * The checkpoints that a replica may drop once its primary has confirmed that the volume has not changed since a checkpoint.
 * They are left if the agent died after it had stored a newer one.
 */
export function surplusCheckpoints(
  held: readonly VolumeCheckpoint[],
  unchanged: VolumeCheckpoint | undefined,
): VolumeCheckpoint[] {
  const sorted = newestFirst(held)
  const isNewest =
    unchanged !== undefined && sorted[0] !== undefined && isSameCheckpoint(sorted[0], unchanged)
  return isNewest ? sorted.slice(KEPT_BY_REPLICA) : []
}
