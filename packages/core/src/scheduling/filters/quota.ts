// Refuses every node while the tenant has as many containers as its quota allows. A quota prevents new containers and
// removes no running ones.

import type { Filter } from '../refusal.ts'

export const quota: Filter = {
  name: 'quota',
  retryOn: ['quota', 'placements'],
  phrases: { containers_quota_reached: 'blocked by the containers quota' },
  reportsRecordFact: false,
  nodeKey: () => undefined,
  refuse(_workload, _node, { containers }) {
    if (containers.used < containers.limit) return undefined
    const { used, limit } = containers
    return {
      code: 'containers_quota_reached',
      required: { containers: 1 },
      reported: { free: Math.max(0, limit - used), used, limit },
    }
  },
}
