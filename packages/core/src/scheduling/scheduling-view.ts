// One tenant's nodes and replicas, ready for decisions: created once from facts and then updated with each change. Each
// tenant has its own view, so a placement can never use another tenant's node, and its cost does not depend on other
// tenants.

import type { Capacity, FilterName, NodeId } from '@holdfast/contract'
import { nodesByName } from './columns.ts'
import {
  captureNodes,
  type ExplainedCandidate,
  explainInSteps,
  explainNodes,
  type NodesAtMoment,
  runToEnd,
} from './explain-nodes.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { type HypotheticalChange, hypothetically, restoring } from './hypothetical.ts'
import { lazy } from './memoize.ts'
import { pickNode } from './pick-node.ts'
import { RETRY_TRIGGERS, type RetryTrigger } from './refusal.ts'
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
  /** A node for each replica that fits. A node with several replicas is listed several times. */
  readonly placed: readonly NodeId[]
  readonly unplaced: number
  /**
   * Every node of the tenant with every refusal, sorted by name, if some replica fits on no node. Empty otherwise. They
   * are computed when they are first read, from the nodes at the time of the decision.
   */
  readonly candidates: readonly ExplainedCandidate[]
  /** The kinds of change after which placing should be retried. Empty if every replica is placed. */
  readonly cures: readonly RetryTrigger[]
}

export interface PlacingInSteps extends Pick<Placing, 'placed' | 'unplaced'> {
  readonly steps: Generator<undefined, readonly ExplainedCandidate[]>
}

export interface SchedulingView {
  /** Chooses nodes and leaves the view unchanged. A caller that uses the result must enter it with applyAssigned. */
  place(workload: Workload, count: number): Placing
  /** Every node of the tenant with every refusal, even if a replica would fit. */
  candidates(workload: Workload): ExplainedCandidate[]
  /**
   * Places replicas as `place` does, and explains every node step by step: after the placed replicas, if one fits
   * nowhere. The view may change between the steps; the explanation is that of the moment of the call.
   */
  placeInSteps(workload: Workload, count: number): PlacingInSteps
  /**
   * Calls `ask` as if the changes were made, in the given order, and returns its answer. Afterwards the view is exactly
   * as before, even if `ask` throws. `ask` must be synchronous, may ask further hypothetical questions, and must not
   * change the view (methods that change the view throw).
   * To place as if some replicas were gone, pass `{ kind: 'release', nodeId, name, resources }` for each of them. To
   * place successors while spread ignores outgoing replicas, pass `{ kind: 'rename', ..., to: NO_DEPLOYMENT }`.
   */
  hypothetically<Answer>(changes: readonly HypotheticalChange[], ask: () => Answer): Answer
  applyAssigned(nodeId: NodeId, name: string, resources: Capacity): void
  applyReleased(nodeId: NodeId, name: string, resources: Capacity): void
  /** Replaces everything that the view holds about a node, including the node's replicas. */
  setNode(node: NodeFacts): void
  removeNode(nodeId: NodeId): void
  setContainers(containers: TenantFacts['containers']): void
}

export function createSchedulingView(facts: TenantFacts): SchedulingView {
  const state = createTenantState(facts)
  return {
    place: (workload, count) => new LazyPlacing(workload, place(state, factsNow(state), workload, count)),
    candidates: (workload) => explainNodes(workload, factsNow(state)),
    placeInSteps(workload, count) {
      const facts = factsNow(state)
      const { placed, unplaced, moment } = place(state, facts, workload, count)
      return { placed, unplaced, steps: explainInSteps(workload, moment ?? captureNodes(workload, facts)) }
    },
    hypothetically: (changes, ask) => hypothetically(state, changes, ask),
    applyAssigned(nodeId, name, resources) {
      checkMutable(state)
      enterReplica(state, nodeId, name, resources)
    },
    applyReleased(nodeId, name, resources) {
      checkMutable(state)
      dropReplica(state, nodeId, name, resources)
    },
    setNode(node) {
      checkMutable(state)
      enterNode(state, node)
    },
    removeNode(nodeId) {
      checkMutable(state)
      dropNode(state, nodeId)
    },
    setContainers(containers) {
      checkMutable(state)
      Object.assign(state.containers, containers)
    },
  }
}

function checkMutable({ openQuestions }: TenantState): void {
  if (openQuestions > 0)
    throw new Error('A scheduling view cannot be changed while a hypothetical question is asked.')
}

/**
 * The tenant's facts, which always show the current state: they include replicas that are entered during a decision. The
 * nodes themselves stay the same.
 */
function factsNow(state: TenantState): TenantFacts {
  const columns = columnsOf(state)
  const { nodes, running } = columns
  return {
    nodes,
    containers: state.containers,
    runs: (name) => running.has(name),
    byName: () => nodesByName(columns),
  }
}

/** Makes one decision for callers that have no scheduling view. */
export function placeReplicas(workload: Workload, count: number, facts: TenantFacts): Placing {
  return createSchedulingView(facts).place(workload, count)
}

interface Placed {
  readonly placed: readonly NodeId[]
  readonly unplaced: number
  /** The nodes with the placed replicas, on which remedies depend; undefined if every replica is placed. */
  readonly moment: NodesAtMoment | undefined
}

/**
 * Places replicas one by one. Each placed replica affects the next ones: in capacity, anti-affinity, spread and quota.
 */
function place(state: TenantState, facts: TenantFacts, workload: Workload, count: number): Placed {
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
    return { placed, unplaced, moment: unplaced > 0 ? captureNodes(workload, facts) : undefined }
  })
}

/**
 * A placement whose explanation is computed when it is read, because many decisions only ask whether a replica fits. It
 * is a class for the reason given at LazyExplanation in explain.ts.
 */
class LazyPlacing implements Placing {
  readonly placed: readonly NodeId[]
  readonly unplaced: number
  readonly #candidates: () => readonly ExplainedCandidate[]

  constructor(workload: Workload, { placed, unplaced, moment }: Placed) {
    this.placed = placed
    this.unplaced = unplaced
    this.#candidates = lazy(() => (moment === undefined ? [] : runToEnd(explainInSteps(workload, moment))))
  }

  get candidates(): readonly ExplainedCandidate[] {
    return this.#candidates()
  }

  get cures(): readonly RetryTrigger[] {
    return this.unplaced > 0 ? retryTriggersOf(this.candidates) : []
  }
}

/**
 * The kinds of change after which a refused replica may fit. A new node is always included, because it may accept the
 * replica.
 */
function retryTriggersOf(candidates: readonly ExplainedCandidate[]): RetryTrigger[] {
  const refusing = new Set<FilterName>()
  for (const { refusals } of new Set(candidates.map(({ shared }) => shared)))
    for (const { filter } of refusals) refusing.add(filter)
  const kinds = new Set<RetryTrigger>(['node_enrolled'])
  for (const { name, retryOn } of PLACEMENT_FILTERS)
    if (refusing.has(name)) for (const kind of retryOn) kinds.add(kind)
  return RETRY_TRIGGERS.filter((kind) => kinds.has(kind))
}
