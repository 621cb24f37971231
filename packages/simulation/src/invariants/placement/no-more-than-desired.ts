// Invariant: two concurrent controllers create no more assignments than desired. A replica that serves the current
// template on a node that keeps it gets no second assignment, and no replica number has more than one successor.

import { type Assignment, jobIdOf } from '@holdfast/contract'
import type { Invariant } from '../invariant.ts'
import { isReleased, type Moment } from '../moment.ts'
import { volumesForbid } from '../volumes/consumers.ts'
import { deploymentOf, newAssignments, type Placed, showPlaced } from './assigned.ts'
import { replicasOf } from './replicas-of.ts'
import { type Cluster, constraintsForbid, residencyForbids } from './where-allowed.ts'

export const noMoreThanDesired: Invariant = {
  name: 'no-more-than-desired',
  start: ({ cluster }) =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const { assignment, placement } = placed
        // The attempts of a job have invariants of their own.
        if (jobIdOf(placement.owner) !== undefined) continue
        const stored = deploymentOf(moment, placed)
        const replicas = stored === undefined ? 0 : replicasOf(stored)
        if (assignment.replica > replicas)
          yield { subject: showPlaced(placed), message: `is created, and ${replicas} are desired` }
        const like = placement.assignments.filter(
          (each) =>
            each.id !== assignment.id &&
            each.replica === assignment.replica &&
            each.templateHash === assignment.templateHash &&
            each.desired === 'running',
        )
        for (const each of like)
          if (isKept(moment, placed, each, cluster))
            yield {
              subject: showPlaced(placed),
              message: `is created beside ${each.id}, which serves the desired template`,
            }
      }
    },
}

function isKept(moment: Moment, placed: Placed, { id, nodeId }: Assignment, cluster: Cluster): boolean {
  const { tenant } = placed
  const node = moment.nodes.was(tenant, nodeId)
  const spec = deploymentOf(moment, placed)?.spec
  const seen = moment.observations.was(tenant, id)
  if (node === undefined || spec === undefined || seen?.state !== 'ready' || seen.reason !== '') return false
  if (node.status === 'failed' || node.draining === true || isReleased(moment, tenant, node)) return false
  if (volumesForbid(spec, nodeId, (volume) => moment.volumes.was(tenant, volume)) !== undefined) return false
  return residencyForbids(spec, node, cluster) === undefined && constraintsForbid(spec, node) === undefined
}
