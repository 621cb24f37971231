// Invariant: residency is a hard filter. No replica is placed on a node that the residency demand forbids, and a replica
// leaves a node that no longer qualifies. Attested labels at the time of the write decide.

import type { Invariant } from '../invariant.ts'
import { deploymentOf, newAssignments, showPlaced, specOf } from './assigned.ts'
import { residencyForbids } from './where-allowed.ts'

export const residency: Invariant = {
  name: 'residency',
  start: ({ cluster }) =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const node = moment.nodes.was(placed.tenant, placed.assignment.nodeId)
        const stored = deploymentOf(moment, placed)
        const spec = stored && specOf(stored, placed.assignment)
        const why = node && spec && residencyForbids(spec, node, cluster)
        if (why !== undefined)
          yield { subject: showPlaced(placed), message: `is placed on ${node?.name}: ${why}` }
      }
    },
}

/**
 * End-state invariant: no replica remains on a forbidden node. Only enforced residency moves running replicas. Not
 * checked if the script makes containers fail, because a replica is not removed before its successor serves.
 */
export const residencySettled: Invariant = {
  name: 'residency-settled',
  atEnd: true,
  start: ({ cluster, steps }) =>
    function* (moment) {
      const ill = new Set(steps.flatMap((step) => (step.do === 'behave' ? step.deployment : [])))
      for (const { tenant, record: placement } of moment.placements.all)
        for (const assignment of ill.has(placement.name) ? [] : placement.assignments) {
          const node = moment.nodes.is(tenant, assignment.nodeId)
          const stored = tenant && deploymentOf(moment, { tenant, placement })
          const spec = stored && specOf(stored, assignment)
          const why = node && spec && residencyForbids(spec, node, cluster)
          if (why !== undefined && cluster.residencyEnforced !== false && assignment.desired === 'running')
            yield {
              subject: showPlaced({ placement, assignment }),
              message: `stays on ${node?.name}: ${why}`,
            }
        }
    },
}
