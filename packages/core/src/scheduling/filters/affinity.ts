// Does the node run a replica of each deployment that this one goes with? The tenant network does not span nodes. A
// deployment that names itself begins anywhere and stays there. DECISIONS 4.

import type { NodeFacts, TenantFacts, Workload } from '../facts.ts'
import type { Filter } from '../refusal.ts'
import { rememberedFor } from '../remembered.ts'

export const affinity: Filter = {
  name: 'affinity',
  curedBy: ['placements', 'deployment'],
  phrases: { affinity_unmet: 'without the deployments to go with' },
  refuse(workload, node, facts) {
    const wanted = workload.placement?.affinity
    const isMissing = (name: string) => !node.replicas.has(name) && !begins(name, workload, facts)
    if (wanted === undefined || !wanted.some(isMissing)) return undefined
    const missing = wanted.filter(isMissing).join(' and of ')
    return {
      filter: 'affinity',
      code: 'affinity_unmet',
      required: required(wanted),
      reported: wanted.filter((name) => node.replicas.has(name)),
      fix: `Place a replica of ${missing} on ${node.name}, or take the name out of placement.affinity.`,
    }
  },
}

const required = rememberedFor((wanted: readonly string[]) => [...wanted])

function begins(name: string, workload: Workload, { nodes, runs }: TenantFacts): boolean {
  if (name !== workload.name) return false
  return !(runs?.(name) ?? nodes.some((node: NodeFacts) => node.replicas.has(name)))
}
