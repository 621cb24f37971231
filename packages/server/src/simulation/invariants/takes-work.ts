// New work goes only to a node that takes it: ready, open, not the control plane's, the named one, with the labels that are
// asked for. Each as the node's record was when the placement was written. SPEC 3 rule 2, DECISIONS 4 and 5.

import { deploymentOf, newAssignments, showPlaced } from './assigned.ts'
import type { Invariant } from './invariant.ts'
import { constraintsForbid } from './where-allowed.ts'

export const takesWork: Invariant = {
  name: 'takes-work',
  start: () =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const node = moment.nodes.was(placed.tenant, placed.assignment.nodeId)
        const spec = deploymentOf(moment, placed)?.spec
        if (node === undefined || spec === undefined) continue
        const ofPlatform = moment.world.tenants.some(
          ({ record }) => record.id === placed.tenant && record.platform,
        )
        const why = [
          node.status === 'ready' ? undefined : `is ${node.status}`,
          node.schedulable && node.draining !== true ? undefined : 'takes no new work',
          node.controlPlane && !ofPlatform ? 'is the control plane’s' : undefined,
          spec.nodeId === undefined || spec.nodeId === node.id ? undefined : `is not ${spec.nodeId}`,
          constraintsForbid(spec, node),
        ].find((each) => each !== undefined)
        if (why !== undefined)
          yield { subject: showPlaced(placed), message: `is placed on ${node.name}, which ${why}` }
      }
    },
}
