// Decides whether a replica may stay on its node after the node's labels or the demands of its deployment changed. Only
// the filters on location, labels, named node and the primaries of volumes are used: a cordoned or full node accepts no new replicas but keeps its
// own. See docs/design/residency.md#displaced-replicas

import { firstRefusal } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { RESIDENCY_FILTERS } from './filters/index.ts'
import { labelConstraint } from './filters/label-constraint.ts'
import { namedNode } from './filters/named-node.ts'
import { volumePrimary } from './filters/volume-primary.ts'
import type { NodeRefusal } from './refusal.ts'

const NO_FACTS: TenantFacts = { nodes: [], containers: { used: 0, limit: 0 } }

/**
 * Checks whether a replica may stay on its node, and returns undefined if so. A refusal by residency is returned before a
 * refusal by a preference.
 */
export function stillQualifies(workload: Workload, node: NodeFacts): NodeRefusal | undefined {
  return firstRefusal(filtersFor(workload), withPrimaries(workload), node, NO_FACTS)
}

/** A replica leaves its node only once the volume has its primary elsewhere. */
function withPrimaries(workload: Workload): Workload {
  const { volumes } = workload
  if (volumes === undefined) return workload
  return { ...workload, volumes: volumes.filter(({ primary, isMoving }) => primary !== null && !isMoving) }
}

/** Filters by which a deployment prefers some nodes. A replica may stay for now on a node that these filters refuse. */
const PREFERENCES = [namedNode, labelConstraint]
const WITHOUT_RESIDENCY = [volumePrimary, ...PREFERENCES]
const ALL_FILTERS = [...RESIDENCY_FILTERS, ...WITHOUT_RESIDENCY]

/**
 * The filters that decide whether a replica may stay. While residency is not enforced, no replica is moved because of
 * residency.
 */
const filtersFor = ({ residency }: Workload) =>
  residency?.enforced === false ? WITHOUT_RESIDENCY : ALL_FILTERS

/**
 * Whether a replica keeps running on a refused node until another node accepts it: true if only a preference refuses the
 * node.
 */
export const mayStayForNow = ({ filter }: Pick<NodeRefusal, 'filter'>): boolean =>
  PREFERENCES.some(({ name }) => name === filter)
