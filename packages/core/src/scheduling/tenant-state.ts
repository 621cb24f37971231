// The state of a scheduling view and the changes to the state. A watch may deliver changes twice or out of order, so
// entering the same node twice is harmless.

import type { Capacity, NodeId } from '@holdfast/contract'
import { type Columns, createColumns, refreshSlot, replaceNode, setRunning } from './columns.ts'
import type { Explanation } from './explain.ts'
import type { ExplainedMoment } from './explain-nodes.ts'
import type { NodeFacts, TenantFacts } from './facts.ts'
import { type HeldNode, holdNode, sameFacts } from './held-node.ts'

export interface TenantState {
  readonly held: Map<NodeId, HeldNode>
  readonly containers: { used: number; limit: number }
  /** The node arrays for decisions. Undefined after a node was added or removed; the next decision rebuilds them. */
  columns: Columns | undefined
  /** The number of hypothetical questions in progress. While it is above 0, the view rejects changes. */
  openQuestions: number
  /** The last explanations, by question. Explanations of later moments are computed from them. */
  readonly kept: Map<string, KeptExplanation>
}

/** The explanation of one moment with its texts. */
export interface KeptExplanation extends ExplainedMoment {
  readonly explanation: Explanation
}

const NO_SLOT = -1

export function createTenantState({ nodes, containers }: TenantFacts): TenantState {
  const state: TenantState = {
    held: new Map(),
    containers: { ...containers },
    columns: undefined,
    openQuestions: 0,
    kept: new Map(),
  }
  for (const node of nodes) enterNode(state, node)
  return state
}

export function columnsOf(state: TenantState): Columns {
  state.columns ??= createColumns(state.held.values())
  return state.columns
}

/** Replaces everything that the state holds about a node, including the sums of its replicas. */
export function enterNode(state: TenantState, facts: NodeFacts): void {
  const before = state.held.get(facts.id)
  if (before !== undefined && sameFacts(before, facts)) return
  const node = holdNode(facts, before?.slot ?? NO_SLOT)
  state.held.set(node.id, node)
  if (before === undefined) state.columns = undefined
  else if (state.columns !== undefined) replaceNode(state.columns, before, node)
}

export function dropNode(state: TenantState, id: NodeId): void {
  if (state.held.delete(id)) state.columns = undefined
}

/**
 * Adds a replica to a node. If the node is unknown, the replica only uses quota; the facts of the node will include it
 * once the node is entered.
 */
export function enterReplica(state: TenantState, id: NodeId, name: string, resources: Capacity): void {
  state.containers.used += 1
  const node = state.held.get(id)
  if (node !== undefined) changeReplicas(state, node, name, resources, 1)
}

/** Removes a replica from a node. Returns false and changes nothing if the node has no such replica. */
export function dropReplica(state: TenantState, id: NodeId, name: string, resources: Capacity): boolean {
  const node = state.held.get(id)
  if (node !== undefined && !node.replicas.has(name)) return false
  state.containers.used = Math.max(0, state.containers.used - 1)
  if (node !== undefined) changeReplicas(state, node, name, resources, -1)
  return true
}

function changeReplicas(
  state: TenantState,
  node: HeldNode,
  name: string,
  resources: Capacity,
  by: 1 | -1,
): void {
  const count = (node.replicas.get(name) ?? 0) + by
  if (count === 0) node.replicas.delete(name)
  else node.replicas.set(name, count)
  node.requested.cpuMillis += by * resources.cpuMillis
  node.requested.memoryBytes += by * resources.memoryBytes
  node.total += by
  if (state.columns === undefined) return
  refreshSlot(state.columns, node)
  setRunning(state.columns, name, node.slot, count)
}
