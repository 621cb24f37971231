// May the tenant have one more container? A quota that is reached stops new ones and shrinks nothing; it says the same of
// every node. SPEC 3 rule 4, DECISIONS 6.

import type { Filter } from '../refusal.ts'

const REQUIRED = { containers: 1 }
export const quota: Filter = {
  name: 'quota',
  curedBy: ['quota', 'placements'],
  phrases: { containers_quota_reached: 'closed by the quota of containers' },
  refuse(_workload, _node, { containers: { used, limit } }) {
    if (used < limit) return undefined
    return {
      filter: 'quota',
      code: 'containers_quota_reached',
      required: REQUIRED,
      reported: { free: Math.max(0, limit - used), used, limit },
      fix: `Raise the tenant's quota of containers from ${limit} to ${used + 1}, or stop ${used - limit + 1} of its ${used}.`,
    }
  },
}
