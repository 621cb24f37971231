// Finds the smallest set of changes that makes a node accept a replica, as data. A remedy is reported only if the filters
// accept the node with all changes applied, because a remedy that does not help is worse than none. See
// docs/design/placement.md#remedies

import type { ChangeKind } from '@holdfast/contract'
import { firstRefusal } from '../check-candidates.ts'
import type { NodeFacts, TenantFacts, Workload } from '../facts.ts'
import { PLACEMENT_FILTERS } from '../filters/index.ts'
import { memoizeByValue } from '../memoize.ts'
import type { NodeRefusal } from '../refusal.ts'
import { applySteps, draftOf } from './apply-changes.ts'
import { type Cost, costOf, type PricedStep } from './cost.ts'
import { createLabelAdvisor, type LabelAnswer } from './label-steps.ts'
import { STEPS, tenantStepKind, tenantSteps } from './steps.ts'

/** A set of changes that together make the node accept a replica. No change of the set can be left out. */
export interface Remedy {
  readonly steps: readonly PricedStep[]
  readonly cost: Cost
}

export interface Advice {
  /** For each refusal, the changes that end the refusal; empty if no change by the tenant can end it. */
  readonly fixes: readonly Steps[]
  /** The remedy for a refused node; undefined for an accepting node, or if no change by the tenant helps. */
  readonly remedy: Remedy | undefined
}

type Steps = readonly PricedStep[]
const NO_STEPS: Steps = []

/** Finds remedies for one workload. Steps that many nodes have in common are computed once. */
export function createAdvisor(
  workload: Workload,
  facts: TenantFacts,
): (node: NodeFacts, refusals: readonly NodeRefusal[]) => Advice {
  const { nodes } = facts
  const runs =
    facts.runs ?? memoizeByValue((name: string) => nodes.some(({ replicas }) => replicas.has(name)))
  const labelAnswerFor = createLabelAdvisor(workload)
  const ownFixes = new Map<ChangeKind | undefined, Steps>()
  for (const step of tenantSteps(workload, facts.containers)) ownFixes.set(step.kind, [step])
  return (node, refusals) => {
    const labels = refusals.some(isOnLabels) ? labelAnswerFor(node) : NO_LABELS
    const fixes: Steps[] = []
    let isHopeless = false
    for (const { filter } of refusals) {
      const known = STEPS[filter]
      if (known === undefined) isHopeless = true
      if (typeof known === 'function') fixes.push(known(workload, node, runs))
      else if (known === 'labels') fixes.push(labels.neededBy.get(filter) ?? NO_STEPS)
      else fixes.push(ownFixes.get(tenantStepKind(filter)) ?? NO_STEPS)
    }
    if (isHopeless) return { fixes, remedy: undefined }
    const steps = stepsOf(refusals, fixes, labels)
    const draft = applySteps(draftOf(workload, node, facts), steps)
    const others = tenantSteps(draft.workload, draft.containers)
    if (others.length > 0) {
      applySteps(draft, others)
      steps.push(...others)
      replaceTenantFixes(fixes, refusals, others)
    }
    // Only the facts of the refused node are replaced. Filters read of other nodes only whether the deployment itself
    // runs there, which no step changes.
    const then = { nodes, containers: draft.containers, runs }
    const helps = firstRefusal(PLACEMENT_FILTERS, draft.workload, draft.node, then) === undefined
    return { fixes, remedy: helps ? { steps, cost: costOf(steps) } : undefined }
  }
}

const isOnLabels = ({ filter }: NodeRefusal): boolean => STEPS[filter] === 'labels'

const NO_LABELS: LabelAnswer = { steps: NO_STEPS, neededBy: new Map() }

/**
 * The steps for all refusals except refusals by quota and residency enforcement, which concern the tenant. The steps for
 * labels are listed once, at the first refusal by a filter on labels.
 */
function stepsOf(
  refusals: readonly NodeRefusal[],
  fixes: readonly Steps[],
  labels: LabelAnswer,
): PricedStep[] {
  const steps: PricedStep[] = []
  let hasLabelSteps = false
  refusals.forEach(({ filter }, at) => {
    const known = STEPS[filter]
    if (known === 'tenant' || (known === 'labels' && hasLabelSteps)) return
    hasLabelSteps ||= known === 'labels'
    for (const step of known === 'labels' ? labels.steps : (fixes[at] ?? NO_STEPS)) steps.push(step)
  })
  return steps
}

/**
 * Replaces the fix of each refusal by quota or residency enforcement with the step in the remedy. The remedy's step may
 * differ, because other steps of the remedy may use up more of the quota.
 */
function replaceTenantFixes(fixes: Steps[], refusals: readonly NodeRefusal[], ofRemedy: Steps): void {
  refusals.forEach(({ filter }, at) => {
    if (STEPS[filter] !== 'tenant') return
    const step = ofRemedy.find(({ kind }) => kind === tenantStepKind(filter))
    if (step !== undefined) fixes[at] = [step]
  })
}
