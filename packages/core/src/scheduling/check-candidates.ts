// Applies the filters to nodes: up to the first refusal if a yes or no is enough, and all filters if a person needs the
// reasons.

import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import type { CheckedCandidate, Filter, NodeRefusal } from './refusal.ts'

/** Returns the first refusal of a node, without running the remaining filters. */
export function firstRefusal(
  filters: readonly Filter[],
  workload: Workload,
  node: NodeFacts,
  facts: TenantFacts,
): NodeRefusal | undefined {
  for (const filter of filters) {
    const refusal = refusalBy(filter, workload, node, facts)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

export function refusalBy(
  filter: Filter,
  workload: Workload,
  node: NodeFacts,
  facts: TenantFacts,
): NodeRefusal | undefined {
  const mismatch = filter.refuse(workload, node, facts)
  if (mismatch === undefined) return undefined
  const { code, required, reported } = mismatch
  return { filter: filter.name, code, required, reported }
}

/** Returns every refusal of a node. */
type RefusalsOf = (node: NodeFacts) => NodeRefusal[]

/** Finds the refusals of nodes for one workload, node by node. */
export function createRefusalFinder(workload: Workload, facts: TenantFacts): RefusalsOf {
  return (node) => {
    const refusals: NodeRefusal[] = []
    for (const filter of PLACEMENT_FILTERS) {
      const refusal = refusalBy(filter, workload, node, facts)
      if (refusal !== undefined) refusals.push(refusal)
    }
    return refusals
  }
}

/** Runs every filter on every node of the tenant, whatever the node's status. The result is sorted by node name. */
export function checkCandidates(workload: Workload, facts: TenantFacts): CheckedCandidate[] {
  const refusalsOf = createRefusalFinder(workload, facts)
  return sortedByName(facts.nodes).map((node) => ({
    nodeId: node.id,
    nodeName: node.name,
    refusals: refusalsOf(node),
  }))
}

export const sortedByName = (nodes: readonly NodeFacts[]): NodeFacts[] => [...nodes].sort(compareByName)

/** Compares node names by code units, because the order must not depend on the locale of the server. */
export function compareByName(left: NodeFacts, right: NodeFacts): number {
  if (left.name !== right.name) return left.name < right.name ? -1 : 1
  return left.id < right.id ? -1 : 1
}
