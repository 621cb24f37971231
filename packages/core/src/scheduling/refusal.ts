// Types of filters and refusals: data only. explain.ts and remedies/change-text.ts build the texts for people from this
// data.

import type { FilterName, Json, NodeId } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'

/**
 * The kinds of change after which a refusal may be gone. A waiting deployment is retried only after one of these changes.
 */
export const RETRY_TRIGGERS = [
  'node_enrolled',
  'node_status',
  'node_schedulable',
  'node_role',
  'node_claims',
  'node_agent',
  'node_labels',
  'node_capacity',
  /** Trigger: a replica of any deployment of the tenant was placed or removed. */
  'placements',
  /** Trigger: the spec of the waiting deployment changed. */
  'deployment',
  'quota',
  /** Trigger: a volume that the waiting deployment mounts changed. */
  'volumes',
  /** Trigger: a network that the waiting deployment names changed. */
  'networks',
] as const
export type RetryTrigger = (typeof RETRY_TRIGGERS)[number]

/** The required and the reported value of a comparison that failed. The code states which comparison failed. */
export interface Mismatch {
  readonly code: string
  readonly required: Json
  readonly reported: Json
}

export interface NodeRefusal extends Mismatch {
  readonly filter: FilterName
}

/** A node with all of its refusals, in the order of the filters. A node without refusals accepts a replica. */
export interface CheckedCandidate {
  readonly nodeId: NodeId
  readonly nodeName: string
  readonly refusals: readonly NodeRefusal[]
}

/** A value that is part of the cache key of a filter. */
export type KeyPart = string | boolean | undefined | readonly unknown[]

export interface Filter {
  readonly name: FilterName
  /** The kinds of change after which a refusal by this filter may be gone. */
  readonly retryOn: readonly RetryTrigger[]
  /** Maps a refusal code to the words after the number of refused nodes in a summary: "2 cordoned". */
  readonly phrases: { readonly [code: string]: string }
  /**
   * Whether the reported value of a refusal is a fact from the node's record, so that a new value is worth a new event.
   * False for running replicas and free capacity, which change all the time.
   */
  readonly reportsRecordFact: boolean
  /**
   * Everything that the filter reads of a workload. Present only if the filter otherwise reads nothing but the node's
   * record, without capacity and replicas: decisions then reuse the answer until the record changes. Lists in the key
   * come from a stored spec or the configuration and are never changed in place.
   */
  readonly cacheKey?: (workload: Workload) => readonly KeyPart[]
  /**
   * Everything that the filter reads of a node. An explanation asks once for all nodes with the same keys. Absent if the
   * filter reads labels, replicas, capacity or the id of a node; explain-nodes.ts compares these for the workload.
   */
  readonly nodeKey?: (node: NodeFacts) => string | boolean | undefined
  /** Returns why the node is refused, or undefined if the node is accepted. */
  refuse(workload: Workload, node: NodeFacts, facts: TenantFacts): Mismatch | undefined
}
