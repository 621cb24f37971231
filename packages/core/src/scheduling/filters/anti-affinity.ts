// Does the node run a replica of a deployment that this one keeps away from? Its own name: replicas on distinct nodes.
// DECISIONS 4.

import type { Filter } from '../refusal.ts'

export const antiAffinity: Filter = {
  name: 'anti_affinity',
  curedBy: ['placements', 'deployment'],
  phrases: { anti_affinity_conflict: 'with deployments to keep away from' },
  refuse({ placement }, node) {
    const shunned = placement?.antiAffinity
    const present = shunned?.filter((name) => node.replicas.has(name)) ?? []
    if (shunned === undefined || present.length === 0) return undefined
    return {
      filter: 'anti_affinity',
      code: 'anti_affinity_conflict',
      required: { none: [...shunned] },
      reported: Object.fromEntries(present.map((name) => [name, node.replicas.get(name) ?? 0])),
      fix: `Move ${present.join(' and ')} away from ${node.name}, or take the name out of placement.antiAffinity.`,
    }
  },
}
