// Invariant: two concurrent controllers create no more assignments than desired. A replica that serves the current
// template on a node that keeps it gets no second assignment, and no replica number has more than one successor.

import { type Assignment, jobIdOf } from '@holdfast/contract'
import type { StoredDeployment } from '@holdfast/server/store/records'
import type { Invariant } from '../invariant.ts'
import { isReleased, type Moment } from '../moment.ts'
import { isFailed } from '../nodes/is-failed.ts'
import { volumesForbid } from '../volumes/consumers.ts'
import {
  activeCanary,
  deploymentOf,
  isMarked,
  newAssignments,
  type Placed,
  showPlaced,
  specOf,
} from './assigned.ts'
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
        const replicas = stored === undefined ? 0 : desiredOf(stored, assignment)
        if (assignment.replica > replicas)
          yield { subject: showPlaced(placed), message: `is created, and ${replicas} are desired` }
        const like = placement.assignments.filter(
          (each) =>
            each.id !== assignment.id &&
            each.replica === assignment.replica &&
            isMarked(each) === isMarked(assignment) &&
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

/** How many replicas are desired beside this one: those of the canary if it is one of them. */
const desiredOf = (stored: StoredDeployment, assignment: Assignment): number =>
  isMarked(assignment) ? (activeCanary(stored)?.replicas ?? 0) : replicasOf(stored)

function isKept(moment: Moment, placed: Placed, { id, nodeId }: Assignment, cluster: Cluster): boolean {
  const { tenant } = placed
  const node = moment.nodes.was(tenant, nodeId)
  const stored = deploymentOf(moment, placed)
  const spec = stored && specOf(stored, placed.assignment)
  const seen = moment.observations.was(tenant, id)
  if (node === undefined || spec === undefined || seen?.state !== 'ready' || seen.reason !== '') return false
  if (isFailed(node) || node.draining === true || isReleased(moment, tenant, node)) return false
  if (volumesForbid(spec, nodeId, (volume) => moment.volumes.was(tenant, volume)) !== undefined) return false
  return residencyForbids(spec, node, cluster) === undefined && constraintsForbid(spec, node) === undefined
}
