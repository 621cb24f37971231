// A filter, and why a node is refused: data only. Texts for people are made from it in explain.ts and remedies/change-text.ts.

import type { FilterName, Json, NodeId } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'

/** The changes after which a refusal may be gone. A waiting deployment is retried after them, and not before. */
export const RETRY_TRIGGERS = [
  'node_enrolled',
  'node_status',
  'node_schedulable',
  'node_role',
  'node_claims',
  'node_labels',
  'node_capacity',
  /** A replica of any deployment of the tenant was placed or removed. */
  'placements',
  /** The spec of the deployment changed. */
  'deployment',
  'quota',
] as const
export type RetryTrigger = (typeof RETRY_TRIGGERS)[number]

/** Both sides of the comparison that failed, as values. The code says which comparison it was. */
export interface Mismatch {
  readonly code: string
  readonly required: Json
  readonly reported: Json
}

export interface NodeRefusal extends Mismatch {
  readonly filter: FilterName
}

/** A node with every refusal it has, in the order of the filters. A node without refusals accepts a replica. */
export interface CheckedCandidate {
  readonly nodeId: NodeId
  readonly nodeName: string
  readonly refusals: readonly NodeRefusal[]
}

/** A value that is part of a cache key. */
export type KeyPart = string | boolean | undefined | readonly unknown[]

export interface Filter {
  readonly name: FilterName
  /** The changes after which a refusal by this filter may be gone. */
  readonly retryOn: readonly RetryTrigger[]
  /** By code, how a summary describes the refused nodes after their number: "2 cordoned". */
  readonly phrases: { readonly [code: string]: string }
  /**
   * Whether `reported` is a fact from the node's record. Such a refusal is news when the fact changes. Running replicas and
   * free capacity change all the time and are no news.
   */
  readonly reportsRecordFact: boolean
  /**
   * Everything the filter reads of a workload. Present only where it reads nothing else but the node's record (not its
   * capacity or replicas): decisions then reuse the answer until the record changes. Lists come from a stored spec or the
   * configuration and are never changed in place.
   */
  readonly cacheKey?: (workload: Workload) => readonly KeyPart[]
  /** Everything the filter reads of a node, for this workload. An explanation asks once for all nodes with the same key. */
  readonly nodeKey?: (node: NodeFacts, workload: Workload) => string | boolean | undefined
  /** Undefined where the node is accepted. */
  refuse(workload: Workload, node: NodeFacts, facts: TenantFacts): Mismatch | undefined
}
