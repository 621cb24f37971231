// Invariant: an assignment is deleted only when it has no container left, or when its machine is no longer enrolled.

import type { Invariant } from '../invariant.ts'
import { goneAssignments, showPlaced } from './assigned.ts'

export const confirmedGone: Invariant = {
  name: 'confirmed-gone',
  start: () =>
    function* (moment) {
      for (const placed of goneAssignments(moment)) {
        const { tenant, assignment } = placed
        const machine = moment.world.machines.find(({ nodeId }) => nodeId === assignment.nodeId)
        const left = machine?.containers.find(({ assignmentId }) => assignmentId === assignment.id)
        if (left !== undefined && moment.nodes.is(tenant, assignment.nodeId) !== undefined)
          yield {
            subject: showPlaced(placed),
            message: `left the record while its container on ${machine?.name} is ${left.state}`,
          }
      }
    },
}
