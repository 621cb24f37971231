// Decides which orphans to remove. An orphan is a Holdfast container whose assignment is no longer desired. A desired set
// may be stale or come from a restored store, so an assignment must be missing from two complete sets a minute apart, and
// most of a node's containers are never removed at once. See docs/design/agent.md#orphans.

import { type AssignmentId, readOwner } from '@holdfast/contract'
import type { OwnContainer } from './plan-node.ts'

const APART_MS = 60_000
/** Up to this many orphans are removed even if they are most of the node's containers. */
const ALWAYS_ALLOWED = 3

/** Maps each missing assignment to the times when it was first and last missing from a complete desired set. */
export type MissingMarks = ReadonlyMap<AssignmentId, { readonly firstMs: number; readonly lastMs: number }>

export interface CompleteSet {
  readonly assignments: ReadonlySet<AssignmentId>
  /** Time when the desired set was received, on a monotonic clock. */
  readonly receivedMs: number
}

/** Must be called for each complete desired set. An assignment in the set is no longer marked as missing. */
export function markMissing(
  marks: MissingMarks,
  set: CompleteSet,
  containers: readonly OwnContainer[],
): MissingMarks {
  const missing = containers.filter((one) => isRemovable(one) && !set.assignments.has(one.assignmentId))
  return new Map(
    missing.map(({ assignmentId }) => [
      assignmentId,
      { firstMs: marks.get(assignmentId)?.firstMs ?? set.receivedMs, lastMs: set.receivedMs },
    ]),
  )
}

/** A container whose owner is missing or of a kind that this agent does not know is never removed as an orphan. */
const isRemovable = ({ owner }: OwnContainer): boolean =>
  owner !== undefined && readOwner(owner) !== undefined

interface ClassifiedOrphans {
  readonly remove: readonly OwnContainer[]
  /** Orphans that are too many to remove at once: the agent keeps and reports them. */
  readonly leave: readonly OwnContainer[]
}

/**
 * `desired` is the current desired set. An item that arrived after assignments were marked as missing protects its
 * container.
 */
export function classifyOrphans(
  marks: MissingMarks,
  containers: readonly OwnContainer[],
  desired: ReadonlySet<AssignmentId>,
): ClassifiedOrphans {
  const orphans = containers.filter(({ assignmentId }) => {
    const mark = marks.get(assignmentId)
    return mark !== undefined && !desired.has(assignmentId) && mark.lastMs - mark.firstMs >= APART_MS
  })
  const tooMany = orphans.length > ALWAYS_ALLOWED && orphans.length * 2 > containers.length
  return tooMany ? { remove: [], leave: orphans } : { remove: orphans, leave: [] }
}
