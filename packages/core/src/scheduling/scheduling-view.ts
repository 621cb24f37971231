// One tenant's nodes and replicas, ready for decisions: created once from facts and then updated with each change. Each
// tenant has its own view, so a placement can never use another tenant's node, and its cost does not depend on other
// tenants.

import type { Capacity, FilterName, NodeId } from '@holdfast/contract'
import { type Explanation, explainCandidates } from './explain.ts'
import { type ExplainedCandidate, explainInSteps, questionOf, runToEnd } from './explain-nodes.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { type HypotheticalChange, hypothetically, restoring } from './hypothetical.ts'
import { lazy } from './memoize.ts'
import { captureColumns, type NodesAtMoment } from './nodes-at-moment.ts'
import { pickNode } from './pick-node.ts'
import { RETRY_TRIGGERS, type RetryTrigger } from './refusal.ts'
import {
  columnsOf,
  createTenantState,
  dropNode,
  dropReplica,
  enterNode,
  enterReplica,
  type KeptExplanation,
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
  /** The texts about the candidates; undefined if every replica is placed. */
  readonly explanation: Explanation | undefined
  /** The kinds of change after which placing should be retried. Empty if every replica is placed. */
  readonly cures: readonly RetryTrigger[]
}

export interface PlacingInSteps extends Pick<Placing, 'placed' | 'unplaced'> {
  readonly steps: Generator<undefined, KeptExplanation>
}

export interface SchedulingView {
  /** Chooses nodes and leaves the view unchanged. A caller that uses the result must enter it with applyAssigned. */
  place(workload: Workload, count: number): Placing
  /** Every node of the tenant with every refusal, even if a replica would fit. */
  candidates(workload: Workload): readonly ExplainedCandidate[]
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
    place(workload, count) {
      const placed = place(state, factsNow(state), workload, count)
      return new LazyPlacing(placed, (moment) => runToEnd(explain(state, workload, moment)))
    },
    candidates: (workload) => runToEnd(explain(state, workload, capture(state, workload))).explained,
    placeInSteps(workload, count) {
      const { placed, unplaced, moment } = place(state, factsNow(state), workload, count)
      return { placed, unplaced, steps: explain(state, workload, moment ?? capture(state, workload)) }
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
  const { nodes, running } = columnsOf(state)
  return {
    nodes,
    containers: state.containers,
    runs: (name) => running.has(name),
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
    return { placed, unplaced, moment: unplaced > 0 ? capture(state, workload) : undefined }
  })
}

const capture = (state: TenantState, workload: Workload): NodesAtMoment =>
  captureColumns(workload, columnsOf(state), state.containers)

/** The most explanations that a view keeps. */
const MOST_KEPT = 4
/** Answers of earlier moments are dropped once there are so many more than nodes. */
const MOST_ANSWERS_EACH = 3

/** Explains the nodes of a moment. The view keeps the explanation, so that the next one computes only what has changed. */
function* explain(
  { kept }: TenantState,
  workload: Workload,
  moment: NodesAtMoment,
): Generator<undefined, KeptExplanation> {
  const question = questionOf(workload, moment)
  const known = kept.get(question)
  const isBounded = known !== undefined && known.answers.size <= MOST_ANSWERS_EACH * moment.nodes.length
  const now = yield* explainInSteps(workload, moment, isBounded ? known : undefined)
  const isSame = now.explained === known?.explained
  const explanation = isSame ? known.explanation : explainCandidates(now.explained)
  const explained: KeptExplanation = { ...now, explanation }
  kept.delete(question)
  kept.set(question, explained)
  for (const [oldest] of kept) if (kept.size > MOST_KEPT) kept.delete(oldest)
  return explained
}

/**
 * A placement whose explanation is computed when it is read, because many decisions only ask whether a replica fits. It
 * is a class for the reason given at LazyExplanation in explain.ts.
 */
class LazyPlacing implements Placing {
  readonly placed: readonly NodeId[]
  readonly unplaced: number
  readonly #kept: () => KeptExplanation | undefined

  constructor({ placed, unplaced, moment }: Placed, explain: (moment: NodesAtMoment) => KeptExplanation) {
    this.placed = placed
    this.unplaced = unplaced
    this.#kept = lazy(() => moment && explain(moment))
  }

  get candidates(): readonly ExplainedCandidate[] {
    return this.#kept()?.explained ?? []
  }

  get explanation(): Explanation | undefined {
    return this.#kept()?.explanation
  }

  get cures(): readonly RetryTrigger[] {
    const { explanation } = this
    return explanation === undefined ? [] : retryTriggersOf(explanation)
  }
}

/**
 * The kinds of change after which a refused replica may fit. A new node is always included, because it may accept the
 * replica.
 */
function retryTriggersOf({ answers }: Explanation): RetryTrigger[] {
  const refusing = new Set<FilterName>()
  for (const { answer } of answers) for (const { filter } of answer.refusals) refusing.add(filter)
  const kinds = new Set<RetryTrigger>(['node_enrolled'])
  for (const { name, retryOn } of PLACEMENT_FILTERS)
    if (refusing.has(name)) for (const kind of retryOn) kinds.add(kind)
  return RETRY_TRIGGERS.filter((kind) => kinds.has(kind))
}
