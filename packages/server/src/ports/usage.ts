// The usage of nodes and their containers, as the server replicas that hold their sessions keep it.
// See docs/design/usage.md#questions

import type { AssignmentId, NodeId, TenantId } from '@holdfast/contract'

/** The values of some slots, the oldest first; null where no sample arrived. */
type Values = (number | null)[]

/** Means of the last minute; absent without a sample in it. */
export interface LastMinute {
  readonly cpuMillis?: number
  readonly memoryBytes?: number
}

export interface AssignmentUsage {
  readonly id: AssignmentId
  readonly cpuMillis: Values
  readonly memoryBytes: Values
  readonly rx: Values
  readonly tx: Values
  readonly lastMinute: LastMinute
  readonly throttledPercent?: number
  readonly pids?: number
}

export interface NodeUsage {
  readonly nodeId: NodeId
  readonly cpuMillis: Values
  readonly memoryBytes: Values
  readonly loadMillis: Values
  readonly diskUsedBytes: Values
  readonly diskBytes?: number
  readonly lastMinute: LastMinute
  /** Number of containers that the agent could not read in its last round. */
  readonly unread: number
  /** Number of containers beyond the limit of one answer. */
  readonly omitted: number
  readonly series: AssignmentUsage[]
}

export interface AskedNode {
  readonly nodeId: NodeId
  /** The assignments to read; absent: all of the node. */
  readonly assignments?: readonly AssignmentId[]
}

/** A node to ask about together with nodes of other tenants. */
export interface OwnedNode extends AskedNode {
  readonly tenant: TenantId
}

export interface UsageAnswer {
  readonly nodes: ReadonlyMap<NodeId, NodeUsage>
  /** Nodes whose server replica did not answer: their usage is unknown. */
  readonly unreachable: readonly NodeId[]
}

/**
 * Reads the newest slots of nodes. With 0 slots only the means of the last minute are read. A node without samples is not
 * in the answer.
 */
export type ReadUsage = (tenant: TenantId, nodes: readonly AskedNode[], slots: number) => Promise<UsageAnswer>

/** The same for nodes of several tenants, with one call to each server replica that holds some of them. */
export type ReadUsageOfAll = (nodes: readonly OwnedNode[], slots: number) => Promise<UsageAnswer>
