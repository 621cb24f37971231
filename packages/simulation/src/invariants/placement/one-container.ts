// Invariant: an assignment has at most one container on all machines, and only on the node that the assignment names.

import type { AssignmentId, NodeId } from '@holdfast/contract'
import type { Invariant } from '../invariant.ts'
import { newAssignments } from './assigned.ts'

export const oneContainer: Invariant = {
  name: 'one-container',
  start() {
    const assigned = new Map<AssignmentId, NodeId>()
    /** All node ids of each machine: one that was removed and enrolled again keeps its containers for a while. */
    const idsOf = new Map<string, Set<NodeId | undefined>>()
    return function* (moment) {
      for (const { assignment } of newAssignments(moment)) assigned.set(assignment.id, assignment.nodeId)
      if (!moment.machinesChanged) return
      const found = new Set<AssignmentId>()
      for (const { name, nodeId, containers } of moment.world.machines) {
        const ids = (idsOf.get(name) ?? new Set()).add(nodeId)
        idsOf.set(name, ids)
        for (const { assignmentId } of containers) {
          const assignedTo = assigned.get(assignmentId)
          if (found.has(assignmentId))
            yield { subject: assignmentId, message: `has a second container, on ${name}` }
          if (!ids.has(assignedTo))
            yield {
              subject: assignmentId,
              message: `is on ${name} (${nodeId}), and was assigned to ${assignedTo ?? 'no node'}`,
            }
          found.add(assignmentId)
        }
      }
    }
  },
}
