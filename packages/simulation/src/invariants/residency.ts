// Residency is a hard rule: no replica is placed or stays where the demand forbids it. Checked with the attested labels at
// the moment of the write. See docs/design/residency.md#enforcement

import { deploymentOf, newAssignments, showPlaced } from './assigned.ts'
import type { Invariant } from './invariant.ts'
import { residencyForbids } from './where-allowed.ts'

export const residency: Invariant = {
  name: 'residency',
  start: ({ cluster }) =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const node = moment.nodes.was(placed.tenant, placed.assignment.nodeId)
        const spec = deploymentOf(moment, placed)?.spec
        const why = node && spec && residencyForbids(spec, node, cluster)
        if (why !== undefined)
          yield { subject: showPlaced(placed), message: `is placed on ${node?.name}: ${why}` }
      }
    },
}

/**
 * With all faults over and time to move. What is not enforced moves nothing: it only lets nothing new come. Not judged where
 * containers were made to fail: a successor that never serves is waited for.
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
          const spec = tenant && deploymentOf(moment, { tenant, placement })?.spec
          const why = node && spec && residencyForbids(spec, node, cluster)
          if (why !== undefined && cluster.residencyEnforced !== false && assignment.desired === 'running')
            yield {
              subject: showPlaced({ placement, assignment }),
              message: `stays on ${node?.name}: ${why}`,
            }
        }
    },
}
