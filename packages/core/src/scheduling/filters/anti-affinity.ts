// Does the node run a replica of a deployment that this one keeps away from? Its own name: replicas on distinct nodes.
// DECISIONS 4.

import type { Filter } from '../refusal.ts'
import { rememberedFor } from '../remembered.ts'

export const antiAffinity: Filter = {
  name: 'anti_affinity',
  curedBy: ['placements', 'deployment'],
  phrases: { anti_affinity_conflict: 'with deployments to keep away from' },
  refuse({ placement }, node) {
    const shunned = placement?.antiAffinity
    if (shunned === undefined || !shunned.some((name) => node.replicas.has(name))) return undefined
    const present = shunned.filter((name) => node.replicas.has(name))
    const reported: { [name: string]: number } = {}
    for (const name of present) reported[name] = node.replicas.get(name) ?? 0
    return {
      filter: 'anti_affinity',
      code: 'anti_affinity_conflict',
      required: required(shunned),
      reported,
      fix: `Move ${present.join(' and ')} away from ${node.name}, or take the name out of placement.antiAffinity.`,
    }
  },
}

const required = rememberedFor((shunned: readonly string[]) => ({ none: [...shunned] }))
