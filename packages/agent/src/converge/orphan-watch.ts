// Finds orphaned containers from the complete desired sets that arrive. Orphans that are too many at once are kept and
// reported. See docs/design/agent.md#orphans.

import type { AssignmentId } from '@holdfast/contract'
import {
  type CompleteSet,
  classifyOrphans,
  type MissingMarks,
  markMissing,
  type OwnContainer,
} from '@holdfast/core/node'
import type { Logger } from 'pino'

export interface OrphanWatch {
  addComplete(set: CompleteSet): void
  /** Finds orphans in a full list of containers, with the complete desired sets received since the previous call. */
  find(own: readonly OwnContainer[], desired: ReadonlySet<AssignmentId>): readonly OwnContainer[]
}

/**
 * Creates the search for orphans. If there are too many orphans to remove safely, none is removed, and `onLeft` is
 * called with the names of all of them, whenever these names change. It gets an empty list once there is no orphan.
 */
export function createOrphanWatch(
  log: Logger,
  onLeft: (names: readonly string[]) => void = () => {},
): OrphanWatch {
  const unevaluated: CompleteSet[] = []
  let marks: MissingMarks = new Map()
  let left = ''

  const reportLeft = (leave: readonly OwnContainer[]): void => {
    const names = leave.map(({ name }) => name).toSorted()
    if (names.join() === left) return
    left = names.join()
    if (names.length > 0) log.warn({ containers: names }, 'too many orphaned containers, none removed')
    onLeft(names)
  }

  return {
    addComplete: (set) => void unevaluated.push(set),
    find(own, desired) {
      for (const set of unevaluated.splice(0)) marks = markMissing(marks, set, own)
      const { remove, leave } = classifyOrphans(marks, own, desired)
      reportLeft(leave)
      return remove
    },
  }
}
