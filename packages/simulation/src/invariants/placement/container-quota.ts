// Invariant: no container is placed above the quota, even if several server replicas place at the same time. That a
// lowered quota stops no container is checked by `serves-until-replaced`.

import type { Invariant } from '../invariant.ts'
import { createRecentLimits } from '../records/recent-limit.ts'
import { newAssignments } from './assigned.ts'

export const containerQuota: Invariant = {
  name: 'container-quota',
  start() {
    const limits = createRecentLimits('containers')
    return function* (moment) {
      limits.note(moment)
      const grown = new Set([...newAssignments(moment)].map(({ tenant }) => tenant))
      for (const tenant of grown) {
        const own = moment.placements.all.filter((kept) => kept.tenant === tenant)
        const used = own.reduce((sum, { record }) => sum + record.assignments.length, 0)
        const limit = limits.of(tenant, moment.now)
        if (used > limit)
          yield {
            subject: tenant,
            message: `has ${used} containers after a placement, and may have ${limit}`,
          }
      }
    }
  },
}
