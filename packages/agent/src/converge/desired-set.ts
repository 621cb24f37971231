// What the node is to have, by the sets that came, and of what of it the server itself has spoken: of what is only kept on
// this node's disk nothing is made (SAFETY 4h).

import type { AssignmentId, DesiredItem } from '@holdfast/contract'
import type { DesiredChange } from '../ports/session.ts'

export interface Wishes {
  readonly desired: ReadonlyMap<AssignmentId, DesiredItem>
  take(change: DesiredChange, source: 'server' | 'kept'): void
  wasTold(id: AssignmentId): boolean
  /** False until a first set came. */
  areKnown(): boolean
}

export function createDesiredSet(): Wishes {
  const desired = new Map<AssignmentId, DesiredItem>()
  const told = new Set<AssignmentId>()
  let known = false
  return {
    desired,
    take({ complete, items, gone }, source) {
      if (complete) desired.clear()
      for (const item of items) desired.set(item.assignmentId, item)
      for (const id of desired.keys()) if (gone.includes(id)) desired.delete(id)
      if (source === 'server') for (const { assignmentId } of items) told.add(assignmentId)
      for (const id of told) if (!desired.has(id)) told.delete(id)
      known = true
    },
    wasTold: (id) => told.has(id),
    areKnown: () => known,
  }
}
