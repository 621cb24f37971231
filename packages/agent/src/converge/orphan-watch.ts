// Which containers does nobody wish any more, by the sets that came? A store that was restored from a backup knows less than
// it did: what it does not name may still be wished. So once a Complete set is older than what was seen before, nothing is
// taken for an orphan until an operator has looked and restarts the agent. Too many at once are left and told. SAFETY 3, 4e.

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
  /** Of a set that takes nothing away: a change, or the one kept on disk. */
  noteRevision(revision: number): void
  takeComplete(revision: number, set: CompleteSet): void
  /** To be asked with each list: the sets that came since the last one are judged by it. */
  find(own: readonly OwnContainer[], desired: ReadonlySet<AssignmentId>): readonly OwnContainer[]
}

/** `onLeft`: the names of those that are too many to be removed, whenever they are others than before; none: it is over. */
export function createOrphanWatch(
  log: Logger,
  onLeft: (names: readonly string[]) => void = () => {},
): OrphanWatch {
  const unjudged: CompleteSet[] = []
  let marks: MissingMarks = new Map()
  let newestRevision = 0
  let wentBack = false
  let left = ''

  const reportLeft = (leave: readonly OwnContainer[]): void => {
    const names = leave.map(({ name }) => name).toSorted()
    if (names.join() === left) return
    left = names.join()
    if (names.length > 0) log.warn({ containers: names }, 'too many are wished by nobody: left')
    onLeft(names)
  }

  const noteRevision = (revision: number): void => {
    newestRevision = Math.max(newestRevision, revision)
  }
  return {
    noteRevision,
    takeComplete(revision, set) {
      if (revision < newestRevision && !wentBack) {
        wentBack = true
        log.error(
          { revision, newestRevision },
          'the store went back: nothing is taken for an orphan until the agent is restarted',
        )
      }
      noteRevision(revision)
      unjudged.push(set)
    },
    find(own, desired) {
      for (const set of unjudged.splice(0)) marks = markMissing(marks, set, own)
      if (wentBack) return []
      const { remove, leave } = classifyOrphans(marks, own, desired)
      reportLeft(leave)
      return remove
    },
  }
}
