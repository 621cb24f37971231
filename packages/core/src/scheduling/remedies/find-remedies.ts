// The smallest change that makes a node take a replica, as data. It is said only after the filters themselves, asked about
// the facts as they would then be, accept the node: a cure that did not cure would be worse than none. DECISIONS 7.

import type { Change, Cure, Refusal } from '@holdfast/contract'
import { allRefusals, firstRefusal, sortedByName } from '../check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { PLACEMENT_FILTERS } from '../filters/index.ts'
import { quoteConstraint } from '../filters/label-constraint.ts'
import type { CheckedCandidate } from '../refusal.ts'
import { rememberedBy } from '../remembered.ts'
import { applySteps, draftOf } from './apply-changes.ts'
import { textOf } from './change-text.ts'
import { type Cost, costOf, type PricedStep } from './cost.ts'
import { labelStepsOf } from './label-steps.ts'
import { STEPS, stepsAfter } from './steps.ts'

/** Put into words only when somebody reads it: of a thousand cures ten are told, unless the whole matrix is. */
export interface FoundCure {
  readonly node: NodeFacts
  readonly steps: readonly PricedStep[]
  readonly cost: Cost
}

/** Of a node that refuses: what would make it take one. Undefined where nothing would. */
export interface ExplainedCandidate extends CheckedCandidate {
  readonly cure: FoundCure | undefined
}

/** Undefined where the node accepts already, and where nothing helps. */
type CureOf = (node: NodeFacts, refusals: readonly Refusal[]) => FoundCure | undefined

/** For one question: what many nodes have in common is found out once. */
export function curesFor(workload: Workload, facts: TenantFacts): CureOf {
  const { nodes } = facts
  const labelSteps = labelStepsOf(workload)
  const runs = rememberedBy((name: string) => nodes.some(({ replicas }) => replicas.has(name)))
  return (node, refusals) => {
    const steps = stepsFor(refusals, workload, node, labelSteps, runs)
    if (steps === undefined || refusals.length === 0) return undefined
    const draft = applySteps(draftOf(workload, node, facts), steps)
    for (const step of stepsAfter(draft.workload, draft.containers)) {
      applySteps(draft, [step])
      steps.push(step)
    }
    // The nodes as they are: of others a filter asks only where the deployment itself runs, which no step changes.
    const then = { nodes, containers: draft.containers, runs }
    const isCured = firstRefusal(PLACEMENT_FILTERS, draft.workload, draft.node, then) === undefined
    return isCured ? { node, steps, cost: costOf(steps) } : undefined
  }
}

/** The whole matrix, and of every refused node its cure, where there is one. */
export function cureCandidates(workload: Workload, facts: TenantFacts): ExplainedCandidate[] {
  const cureOf = curesFor(workload, facts)
  return sortedByName(facts.nodes).map((node) => {
    const refusals = allRefusals(workload, node, facts)
    return { nodeId: node.id, nodeName: node.name, refusals, cure: cureOf(node, refusals) }
  })
}

function stepsFor(
  refusals: readonly Refusal[],
  workload: Workload,
  node: NodeFacts,
  labelSteps: (node: NodeFacts) => readonly PricedStep[],
  runs: (name: string) => boolean,
): PricedStep[] | undefined {
  const steps: PricedStep[] = []
  let labelled = false
  for (const { filter } of refusals) {
    const found = STEPS[filter]
    if (found === undefined) return undefined
    if (typeof found === 'function') steps.push(...found(workload, node, runs))
    else if (found === 'labels' && !labelled) {
      labelled = true
      steps.push(...labelSteps(node))
    }
  }
  return steps
}

export const cureText = ({ steps, node }: FoundCure): string =>
  steps.map((step) => textOf(step, node)).join(' ')

export function toCure({ steps, node }: FoundCure): Cure {
  const changes = steps.map((step) => toChange(step, node))
  return { text: changes.map(({ text }) => text).join(' '), changes }
}

/** Field by field, without the price: a matrix has thousands of them. */
function toChange(step: PricedStep, node: NodeFacts): Change {
  const { kind, label, value, constraint, demand, resources, deployment, nodeId, limit } = step
  const change: Change = { kind, text: textOf(step, node) }
  if (label !== undefined) change.label = label
  if (value !== undefined) change.value = value
  if (constraint !== undefined) change.constraint = quoteConstraint(constraint)
  if (demand !== undefined) change.demand = demand
  if (resources !== undefined) change.resources = resources
  if (deployment !== undefined) change.deployment = deployment
  if (nodeId !== undefined) change.nodeId = nodeId
  if (limit !== undefined) change.limit = limit
  return change
}
