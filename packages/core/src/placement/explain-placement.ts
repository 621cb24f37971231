// The entry point for code that only explains placement: where replicas of a workload would go now, and why a node would
// refuse them. The answer comes from the same filters and remedies as a placement plan. Nothing is reserved, so the
// answer may be outdated a moment later.

import type { Candidate, NodeGroup } from '@holdfast/contract'
import {
  createSchedulingView,
  explainCandidates,
  type SchedulingView,
  type TenantFacts,
  toCandidate,
  type Workload,
} from '../scheduling/index.ts'

export interface PlacementExplanation {
  /** For each replica that fits, the name of its node. */
  readonly placed: readonly string[]
  readonly unplaced: number
  readonly summary: string
  /** Every node of the tenant, with every reason why the node refuses a replica. */
  readonly candidates: readonly Candidate[]
  /** Remedies, the cheapest first. Each one would make a node accept a replica. Empty if all replicas are placed. */
  readonly cure: readonly string[]
}

const ALL_PLACED = 'Every replica has a node.'

/** `missing` is the number of replicas to place in addition to the replicas that `facts` include. */
export function explainPlacement(
  workload: Workload,
  facts: TenantFacts,
  missing: number,
): PlacementExplanation {
  const view = createSchedulingView(facts)
  const { placed, unplaced, candidates } = view.place(workload, missing)
  const names = new Map(facts.nodes.map(({ id, name }) => [id, name]))
  const explained = explainCandidates(unplaced > 0 ? candidates : view.candidates(workload))
  return {
    placed: placed.map((id) => names.get(id) ?? id),
    unplaced,
    summary: unplaced > 0 ? explained.summary : ALL_PLACED,
    candidates: explained.candidates,
    cure: unplaced > 0 ? explained.cure : [],
  }
}

/** The part of a scheduling view that readers need. */
export type PlacementView = Pick<SchedulingView, 'placeInSteps'>

/** An explanation whose nodes are read page by page, in the order of their names. */
export interface PagedExplanation {
  readonly unplaced: number
  readonly summary: string
  readonly cure: readonly string[]
  readonly names: readonly string[]
  candidateAt(position: number): Candidate | undefined
  /** Every node, in groups of equal reasons. */
  groups(): readonly NodeGroup[]
}

/** Explains a placement as `explainPlacement` does, in steps of about a millisecond. */
export function* explainPlacementInSteps(
  view: PlacementView,
  workload: Workload,
  missing: number,
): Generator<undefined, PagedExplanation> {
  const { unplaced, steps } = view.placeInSteps(workload, missing)
  yield
  const { explained, explanation } = yield* steps
  return {
    unplaced,
    summary: unplaced > 0 ? explanation.summary : ALL_PLACED,
    cure: unplaced > 0 ? explanation.cure : [],
    names: explained.map(({ nodeName }) => nodeName),
    candidateAt(position) {
      const found = explained[position]
      return found && toCandidate(found)
    },
    groups: () => explanation.groups,
  }
}

/**
 * Computes in steps the explanation that a plan needs if not all `missing` replicas fit. The view keeps it, so that the
 * plan, which is one step, computes only what has changed since.
 */
export function* prepareExplanation(
  view: PlacementView,
  workload: Workload,
  missing: number,
): Generator<undefined, void> {
  const { unplaced, steps } = view.placeInSteps(workload, missing)
  if (unplaced === 0) return
  yield
  const { explanation } = yield* steps
  for (const build of [() => explanation.canonical, () => explanation.groups]) {
    yield
    build()
  }
}
