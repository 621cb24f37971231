// Why a node takes no replica, as data: which filter, what it asked for, what it found, what would help, and the kind of
// event after which asking again makes sense. SPEC 6, DECISIONS 7, DESIGN 4.

import type { FilterName, NodeId, Refusal } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'

/** After such a change a refusal may be gone; before it, asking again is idle work. */
export const RETRY_TRIGGERS = [
  'node_enrolled',
  'node_status',
  'node_schedulable',
  'node_role',
  'node_claims',
  'node_labels',
  'node_capacity',
  /** A replica of any deployment of the tenant came or went. */
  'placements',
  /** The spec of the deployment itself. */
  'deployment',
  'quota',
] as const
export type RetryTrigger = (typeof RETRY_TRIGGERS)[number]

/** A node with every refusal it has, in the order of the filters; none: it takes a replica. */
export interface CheckedCandidate {
  readonly nodeId: NodeId
  readonly nodeName: string
  readonly refusals: Refusal[]
}

export interface Filter {
  readonly name: FilterName
  /** After such a change asking again makes sense. */
  readonly curedBy: readonly RetryTrigger[]
  /** By code, how a summary counts the nodes that are refused for it: "2 cordoned". */
  readonly phrases: { readonly [code: string]: string }
  /**
   * Given where the answer depends on the node's own record (not its capacity, nor what runs on it) and, of the
   * workload, on this text alone. Such an answer is kept until the record changes; all others are asked for anew.
   */
  readonly keptFor?: (workload: Workload) => string
  refuse(workload: Workload, node: NodeFacts, facts: TenantFacts): Refusal | undefined
}
