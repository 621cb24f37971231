// Filters applied: the first refusal of a node where that is enough, and all of them on all nodes where somebody wants to
// know. Both ask the same filter files. DESIGN 4.

import type { Refusal } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import type { CheckedCandidate, Filter } from './refusal.ts'

/** The quick question: is there a refusal? */
export function firstRefusal(
  filters: readonly Filter[],
  workload: Workload,
  node: NodeFacts,
  facts: TenantFacts,
): Refusal | undefined {
  for (const filter of filters) {
    const refusal = filter.refuse(workload, node, facts)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** The whole question: each filter that refuses. */
export function allRefusals(workload: Workload, node: NodeFacts, facts: TenantFacts): Refusal[] {
  const refusals: Refusal[] = []
  for (const filter of PLACEMENT_FILTERS) {
    const refusal = filter.refuse(workload, node, facts)
    if (refusal !== undefined) refusals.push(refusal)
  }
  return refusals
}

/** The whole matrix: every filter on every node of the tenant, whatever its status, in the order of the names. */
export function checkCandidates(workload: Workload, facts: TenantFacts): CheckedCandidate[] {
  return sortedByName(facts.nodes).map((node) => ({
    nodeId: node.id,
    nodeName: node.name,
    refusals: allRefusals(workload, node, facts),
  }))
}

export const sortedByName = (nodes: readonly NodeFacts[]): NodeFacts[] => [...nodes].sort(byName)

/** By code units: the order must not depend on where the server runs. */
function byName(left: NodeFacts, right: NodeFacts): number {
  if (left.name !== right.name) return left.name < right.name ? -1 : 1
  return left.id < right.id ? -1 : 1
}
