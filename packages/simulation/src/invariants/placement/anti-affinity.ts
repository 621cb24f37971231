// Invariant: a deployment is never placed on a node with a deployment that its anti-affinity names, which may be itself.
// A container that is being removed is counted until it is gone.

import type { Assignment } from '@holdfast/contract'
import type { StoredPlacement } from '@holdfast/server/store/records'
import type { Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { deploymentOf, newAssignments, type Placed, showPlaced, specOf } from './assigned.ts'

export const antiAffinity: Invariant = {
  name: 'anti-affinity',
  start: () =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const { tenant, assignment } = placed
        const stored = deploymentOf(moment, placed)
        const shunned = stored ? (specOf(stored, assignment).placement?.antiAffinity ?? []) : []
        if (shunned.length === 0) continue
        const beside = moment.placements.all.filter(
          ({ tenant: owner, record }) =>
            owner === tenant &&
            shunned.includes(record.name) &&
            standing(moment, placed, record).some(
              ({ id, nodeId }) => nodeId === assignment.nodeId && id !== assignment.id,
            ),
        )
        for (const { record } of beside)
          yield {
            subject: showPlaced(placed),
            message: `is placed beside ${record.name} on ${assignment.nodeId}`,
          }
      }
    },
}

/**
 * Replicas that were on the node for certain when the given replica was placed there. Left out are replicas of other
 * deployments placed at the same moment, whose order is unknown, and replicas that the agent confirmed gone.
 */
function standing(
  { placements, observations }: Moment,
  { tenant, placement }: Placed,
  record: StoredPlacement,
): Assignment[] {
  const before = new Set(placements.was(tenant, record.owner)?.assignments.map(({ id }) => id))
  const isOwn = record.owner === placement.owner
  return record.assignments.filter(
    ({ id }) => (isOwn || before.has(id)) && observations.is(tenant, id)?.gone !== true,
  )
}
