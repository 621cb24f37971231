// May a replica stay where it is, after the node's labels or the demands of its deployment changed? Only what says where a
// deployment may be is asked: a node that is cordoned or full takes nothing new, and keeps what it has. SPEC 2.2, 2.7, DECISIONS 7.

import { firstRefusal } from './check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { RESIDENCY_FILTERS } from './filters/index.ts'
import { labelConstraint } from './filters/label-constraint.ts'
import { namedNode } from './filters/named-node.ts'
import type { NodeRefusal } from './refusal.ts'

const NO_FACTS: TenantFacts = { nodes: [], containers: { used: 0, limit: 0 } }

/** Undefined: it may stay. A refusal by residency comes before one by a wish. */
export function stillQualifies(workload: Workload, node: NodeFacts): NodeRefusal | undefined {
  return firstRefusal(filtersFor(workload), workload, node, NO_FACTS)
}

/** Which node, and which labels: what somebody wants, and no rule that forbids a place. */
const WISHES = [namedNode, labelConstraint]
const WHERE_IT_MAY_BE = [...RESIDENCY_FILTERS, ...WISHES]

/** While residency is not enforced nothing new is placed by it, and nothing is moved for it. */
const filtersFor = ({ residency }: Workload) => (residency?.enforced === false ? WISHES : WHERE_IT_MAY_BE)

/** What is only wanted elsewhere runs on until another node takes it. */
export const mayStayForNow = ({ filter }: Pick<NodeRefusal, 'filter'>): boolean =>
  WISHES.some(({ name }) => name === filter)
