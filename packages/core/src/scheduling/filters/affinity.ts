// Requires a replica of each deployment in placement.affinity on the node, because the tenant network does not span
// nodes. A deployment that lists its own name may start on any node; its further replicas then go to the same node.

import type { TenantFacts, Workload } from '../facts.ts'
import type { Filter } from '../refusal.ts'

export const affinity: Filter = {
  name: 'affinity',
  retryOn: ['placements', 'deployment'],
  phrases: { affinity_unmet: 'blocked by affinity' },
  reportsRecordFact: false,
  refuse(workload, { replicas }, facts) {
    const required = workload.placement?.affinity
    const isMissing = (name: string) => !replicas.has(name) && !mayStartAnywhere(name, workload, facts)
    if (required === undefined || !required.some(isMissing)) return undefined
    const reported = required.filter((name) => replicas.has(name))
    return { code: 'affinity_unmet', required, reported }
  },
}

function mayStartAnywhere(name: string, workload: Workload, { nodes, runs }: TenantFacts): boolean {
  if (name !== workload.name) return false
  return !(runs?.(name) ?? nodes.some(({ replicas }) => replicas.has(name)))
}
