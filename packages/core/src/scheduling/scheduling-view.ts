// One tenant's nodes and what runs on them, kept ready for decisions: made once from facts, then told of each change. Other
// tenants' nodes are in other views, so neither a placement nor its cost crosses the boundary. SPEC 3 rule 1.

import type { Capacity, FilterName, NodeId } from '@holdfast/contract'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { type HypotheticalChange, hypothetically, restoring } from './hypothetical.ts'
import { pickNode } from './pick-node.ts'
import { RETRY_TRIGGERS, type RetryTrigger } from './refusal.ts'
import { type ExplainedCandidate, explainNodes } from './remedies/find-remedies.ts'
import {
  columnsOf,
  createTenantState,
  dropNode,
  dropReplica,
  enterNode,
  enterReplica,
  type TenantState,
} from './tenant-state.ts'

export interface Placing {
  /** A node for each replica that fits; a node may come twice. */
  readonly placed: readonly NodeId[]
  readonly unplaced: number
  /** Where a replica fits nowhere: every node of the tenant with every refusal, by name. Empty otherwise. */
  readonly candidates: readonly ExplainedCandidate[]
  /** The kinds of change after which it is worth asking again; empty when nothing is unplaced. */
  readonly cures: readonly RetryTrigger[]
}

export interface SchedulingView {
  /** Decides and enters nothing: whoever acts on the answer enters it with applyAssigned. */
  place(workload: Workload, count: number): Placing
  /** The whole matrix, also where a replica would fit. */
  candidates(workload: Workload): ExplainedCandidate[]
  /**
   * Asks `place` or `candidates` what they would answer if these changes were so, in this order. It is the only way to ask
   * such a question: afterwards the view is exactly as it was, also when `ask` throws. `ask` must be synchronous, may ask
   * further hypothetical questions, and must not change the view (the mutators throw).
   *
   * To place as if some replicas were gone: `{ kind: 'release', nodeId, name, resources }` for each of them. To place
   * successors as if outgoing replicas did not matter to spread: `{ kind: 'rename', ..., to: NO_DEPLOYMENT }`.
   */
  hypothetically<Answer>(changes: readonly HypotheticalChange[], ask: () => Answer): Answer
  applyAssigned(nodeId: NodeId, name: string, resources: Capacity): void
  applyReleased(nodeId: NodeId, name: string, resources: Capacity): void
  /** The facts replace all that was known of the node, what runs on it included. */
  setNode(node: NodeFacts): void
  removeNode(nodeId: NodeId): void
  setContainers(containers: TenantFacts['containers']): void
}

export function createSchedulingView(facts: TenantFacts): SchedulingView {
  const state = createTenantState(facts)
  const change = (apply: () => void): void => {
    if (state.openQuestions > 0)
      throw new Error('A scheduling view cannot be changed while a hypothetical question is asked.')
    apply()
  }
  return {
    place: (workload, count) => place(state, factsNow(state), workload, count),
    candidates: (workload) => explainNodes(workload, factsNow(state)),
    hypothetically: (changes, ask) => hypothetically(state, changes, ask),
    applyAssigned: (nodeId, name, resources) => change(() => enterReplica(state, nodeId, name, resources)),
    applyReleased: (nodeId, name, resources) => change(() => dropReplica(state, nodeId, name, resources)),
    setNode: (node) => change(() => enterNode(state, node)),
    removeNode: (nodeId) => change(() => dropNode(state, nodeId)),
    setContainers: (containers) => change(() => Object.assign(state.containers, containers)),
  }
}

/** What comes and goes while a decision is made is seen in them; which nodes there are does not change meanwhile. */
function factsNow(state: TenantState): TenantFacts {
  const { nodes, running } = columnsOf(state)
  return { nodes, containers: state.containers, runs: (name) => running.has(name) }
}

/** For one decision: a view made and used once. */
export function placeReplicas(workload: Workload, count: number, facts: TenantFacts): Placing {
  return createSchedulingView(facts).place(workload, count)
}

/** Each replica of a call counts for those after it: in capacity, anti-affinity, spread and quota. */
function place(state: TenantState, facts: TenantFacts, workload: Workload, count: number): Placing {
  const { name, resources } = workload
  return restoring(state, (apply) => {
    const placed: NodeId[] = []
    while (placed.length < count) {
      const nodeId = pickNode(state, workload, facts)
      if (nodeId === undefined) break
      placed.push(nodeId)
      if (placed.length < count) apply({ kind: 'enter', nodeId, name, resources })
    }
    const unplaced = count - placed.length
    // At once: what would help depends on what is entered at this moment.
    const candidates = unplaced > 0 ? explainNodes(workload, facts) : []
    return { placed, unplaced, candidates, cures: unplaced > 0 ? curesOf(candidates) : [] }
  })
}

/** A new node may take what all others refuse. */
function curesOf(candidates: readonly ExplainedCandidate[]): RetryTrigger[] {
  const refuses = (name: FilterName): boolean =>
    candidates.some(({ refusals }) => refusals.some(({ filter }) => filter === name))
  const kinds = new Set<RetryTrigger>(['node_enrolled'])
  for (const { name, retryOn } of PLACEMENT_FILTERS)
    if (refuses(name)) for (const kind of retryOn) kinds.add(kind)
  return RETRY_TRIGGERS.filter((kind) => kinds.has(kind))
}
