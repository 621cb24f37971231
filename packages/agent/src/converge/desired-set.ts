// The node's desired items, and which of them the server has confirmed since the agent started. An item known only from
// this node's disk never gets a new container. See docs/design/agent.md#static-stability.

import type { AssignmentId, DesiredItem } from '@holdfast/contract'
import type { DesiredChange } from '../ports/session.ts'

export interface DesiredSet {
  readonly desired: ReadonlyMap<AssignmentId, DesiredItem>
  apply(change: DesiredChange, source: 'server' | 'disk'): void
  isConfirmed(id: AssignmentId): boolean
  /** Whether desired items are known: false until the first desired set arrives. */
  isKnown(): boolean
}

export function createDesiredSet(): DesiredSet {
  const desired = new Map<AssignmentId, DesiredItem>()
  const confirmed = new Set<AssignmentId>()
  let known = false
  return {
    desired,
    apply({ complete, items, gone }, source) {
      if (complete) desired.clear()
      for (const item of items) desired.set(item.assignmentId, item)
      for (const id of desired.keys()) if (gone.includes(id)) desired.delete(id)
      if (source === 'server') for (const { assignmentId } of items) confirmed.add(assignmentId)
      for (const id of confirmed) if (!desired.has(id)) confirmed.delete(id)
      known = true
    },
    isConfirmed: (id) => confirmed.has(id),
    isKnown: () => known,
  }
}
