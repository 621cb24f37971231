// Invariants of a canary that runs: it takes nothing away from the deployment. A replica of the deployment leaves only a node that
// it must leave, or beside another one of its number that serves. The canary has at most its replicas, and only they have
// its template.

import type { Assignment, TenantId } from '@holdfast/contract'
import type { Invariant } from '../invariant.ts'
import { isReleased, type Moment } from '../moment.ts'
import { isFailed } from '../nodes/is-failed.ts'
import {
  activeCanary,
  deploymentOf,
  isMarked,
  keptAssignments,
  newAssignments,
  ownAssignments,
  showPlaced,
} from '../placement/assigned.ts'
import { replicasOf } from '../placement/replicas-of.ts'

export const canaryBeside: Invariant = {
  name: 'canary-beside',
  start: () =>
    function* (moment) {
      for (const moved of keptAssignments(moment)) {
        const { tenant, placement, assignment, was } = moved
        const stored = deploymentOf(moment, moved)
        if (isMarked(was) || was.desired !== 'running' || assignment.desired === 'running') continue
        if (stored === undefined || activeCanary(stored) === undefined) continue
        const isReplaced = ownAssignments(placement).some(
          (each) =>
            each.replica === was.replica && each.desired === 'running' && serves(moment, tenant, each),
        )
        if (isReplaced || was.replica > replicasOf(stored) || mustLeave(moment, tenant, was)) continue
        yield {
          subject: showPlaced(moved),
          message: `is ${assignment.desired} while a canary is ${stored.canary?.phase}, and no other of its number serves`,
        }
      }
    },
}

export const canaryCount: Invariant = {
  name: 'canary-count',
  start: () =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const { placement, assignment } = placed
        const canary = activeCanary(deploymentOf(moment, placed))
        if (canary === undefined) {
          if (isMarked(assignment))
            yield { subject: showPlaced(placed), message: 'is created, and no canary runs' }
          continue
        }
        const sides = placement.assignments.filter(({ desired }) => desired === 'running')
        const twin = sides.find(
          (each) => isMarked(each) !== isMarked(assignment) && each.templateHash === assignment.templateHash,
        )
        if (twin !== undefined)
          yield { subject: showPlaced(placed), message: `has the template of ${twin.id}, on the other side` }
        const numbers = new Set(sides.filter(isMarked).map(({ replica }) => replica)).size
        if (numbers > canary.replicas)
          yield {
            subject: showPlaced(placed),
            message: `is one of ${numbers} replicas of a canary with ${canary.replicas}`,
          }
      }
    },
}

/** True if the newest report says that the replica is ready. */
export function serves({ observations }: Moment, tenant: TenantId, { id }: Assignment): boolean {
  const seen = observations.is(tenant, id)
  return seen?.state === 'ready' && seen.reason === ''
}

/** True if the node has failed, is drained or is being removed, now or at the moment before. */
export function mustLeave(moment: Moment, tenant: TenantId, { nodeId }: Assignment): boolean {
  const known = [moment.nodes.was(tenant, nodeId), moment.nodes.is(tenant, nodeId)]
  return known.some(
    (node) =>
      node === undefined || isFailed(node) || node.draining === true || isReleased(moment, tenant, node),
  )
}
