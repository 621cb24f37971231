// Containers with our labels that nobody wishes any more. Absence is weak evidence: a set may be old, and a store that was
// restored from a backup knows less than it did. So it takes two Complete sets a minute apart, and never most of a node at
// once: that is left to the operator. That no set is older than what brought the container is the agent's to see to, which
// knows the newest revision it was ever told (orphan-watch.ts there). SAFETY 4e.

import type { AssignmentId } from '@holdfast/contract'
import type { OwnContainer } from './plan-node.ts'

const APART_MS = 60_000
/** So many may go at once, however few containers the node has. */
const ALWAYS_ALLOWED = 3

/** When an assignment was first and last found missing from a Complete set. */
export type MissingMarks = ReadonlyMap<AssignmentId, { readonly firstMs: number; readonly lastMs: number }>

export interface CompleteSet {
  readonly assignments: ReadonlySet<AssignmentId>
  /** Of a clock that never goes back. */
  readonly receivedMs: number
}

/** To be called for each Complete set; an assignment that is in one starts anew. */
export function markMissing(
  marks: MissingMarks,
  set: CompleteSet,
  containers: readonly OwnContainer[],
): MissingMarks {
  const missing = containers.filter(({ assignmentId }) => !set.assignments.has(assignmentId))
  return new Map(
    missing.map(({ assignmentId }) => [
      assignmentId,
      { firstMs: marks.get(assignmentId)?.firstMs ?? set.receivedMs, lastMs: set.receivedMs },
    ]),
  )
}

export interface OrphanVerdict {
  readonly remove: readonly OwnContainer[]
  /** Too many at once: left as they are, and told. */
  readonly leave: readonly OwnContainer[]
}

/** `desired` once more: an item that came since the marks were made takes its container out of question. */
export function judgeOrphans(
  marks: MissingMarks,
  containers: readonly OwnContainer[],
  desired: ReadonlySet<AssignmentId>,
): OrphanVerdict {
  const orphans = containers.filter(({ assignmentId }) => {
    const mark = marks.get(assignmentId)
    return mark !== undefined && !desired.has(assignmentId) && mark.lastMs - mark.firstMs >= APART_MS
  })
  const tooMany = orphans.length > ALWAYS_ALLOWED && orphans.length * 2 > containers.length
  return tooMany ? { remove: [], leave: orphans } : { remove: orphans, leave: [] }
}
