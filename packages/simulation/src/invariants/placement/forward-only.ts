// Invariant: in an assignment only `desired` changes, and only forward; no assignment id is used twice. A replica of a canary
// becomes one of the deployment with another revision, and never the other way round.

import { type AssignmentId, DESIRED_STATES } from '@holdfast/contract'
import type { Invariant } from '../invariant.ts'
import { goneAssignments, isMarked, keptAssignments, newAssignments, showPlaced } from './assigned.ts'

const FIXED = ['replica', 'nodeId', 'templateHash', 'assignedAt'] as const

export const forwardOnly: Invariant = {
  name: 'forward-only',
  start() {
    const gone = new Set<AssignmentId>()
    return function* (moment) {
      for (const moved of keptAssignments(moment)) {
        const { was, assignment: is } = moved
        const field = FIXED.find((each) => was[each] !== is[each])
        if (field !== undefined)
          yield { subject: showPlaced(moved), message: `${field} became ${is[field]} from ${was[field]}` }
        // Only the promotion of its canary changes the revision of a replica.
        if (was.revision !== is.revision && !(isMarked(was) && !isMarked(is)))
          yield { subject: showPlaced(moved), message: `revision became ${is.revision} from ${was.revision}` }
        if (isMarked(is) && !isMarked(was))
          yield { subject: showPlaced(moved), message: 'became a replica of a canary' }
        if (DESIRED_STATES.indexOf(is.desired) < DESIRED_STATES.indexOf(was.desired))
          yield { subject: showPlaced(moved), message: `is desired ${is.desired} after ${was.desired}` }
      }
      for (const placed of newAssignments(moment))
        if (gone.has(placed.assignment.id))
          yield { subject: showPlaced(placed), message: 'is there again after it was gone' }
      for (const { assignment } of goneAssignments(moment)) gone.add(assignment.id)
    }
  },
}
