// Refuses nodes that run a replica of a deployment in placement.antiAffinity. A deployment that lists its own name gets
// each of its replicas on a different node.

import type { Filter } from '../refusal.ts'

export const antiAffinity: Filter = {
  name: 'anti_affinity',
  retryOn: ['placements', 'deployment'],
  phrases: { anti_affinity_conflict: 'blocked by anti-affinity' },
  reportsRecordFact: false,
  refuse({ placement }, { replicas }) {
    const excluded = placement?.antiAffinity
    if (excluded === undefined || !excluded.some((name) => replicas.has(name))) return undefined
    const reported: { [name: string]: number } = {}
    for (const name of excluded) {
      const count = replicas.get(name)
      if (count !== undefined) reported[name] = count
    }
    return { code: 'anti_affinity_conflict', required: { none: excluded }, reported }
  },
}
