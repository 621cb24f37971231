// A deployment that shuns others, or itself, is placed beside none of them; what is on its way out counts until it is gone.
// DECISIONS 4 (antiAffinity).

import { deploymentOf, newAssignments, showPlaced } from './assigned.ts'
import type { Invariant } from './invariant.ts'

export const antiAffinity: Invariant = {
  name: 'anti-affinity',
  start: () =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const { tenant, assignment } = placed
        const shunned = deploymentOf(moment, placed)?.spec.placement?.antiAffinity ?? []
        if (shunned.length === 0) continue
        // Of others that come at the same moment nobody knows who came first, and who comes second may not mind.
        const beside = moment.placements.all.filter(({ tenant: owner, id: uid, record }) => {
          const counted = uid === placed.placement.uid ? record : moment.placements.was(owner, uid)
          const here = counted?.assignments.filter(({ nodeId }) => nodeId === assignment.nodeId) ?? []
          return (
            owner === tenant && shunned.includes(record.name) && here.some(({ id }) => id !== assignment.id)
          )
        })
        for (const { record } of beside)
          yield {
            subject: showPlaced(placed),
            message: `is placed beside ${record.name} on ${assignment.nodeId}`,
          }
      }
    },
}
