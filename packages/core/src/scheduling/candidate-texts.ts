// Converts an explained node to the form of the API, with the texts of its refusals and of its remedy.

import type { Candidate, Change, Cure, Refusal } from '@holdfast/contract'
import type { ExplainedCandidate } from './explain-nodes.ts'
import { quoteConstraint } from './labels.ts'
import type { NodeRefusal } from './refusal.ts'
import { textOfStep, textWithoutRemedy } from './remedies/change-text.ts'
import type { PricedStep } from './remedies/cost.ts'
import type { Remedy } from './remedies/find-remedies.ts'

export function toCandidate(explained: ExplainedCandidate): Candidate {
  const { nodeId, nodeName, remedy } = explained
  const cure = remedy && toCure(remedy, explained)
  const refusals = explained.refusals.map((refusal, at) => toRefusal(refusal, at, explained, cure))
  return cure === undefined ? { nodeId, nodeName, refusals } : { nodeId, nodeName, refusals, cure }
}

/**
 * Converts a refusal to the form of the API. Its fix is the text of the changes that end the refusal, worded as in the
 * remedy of the node.
 */
function toRefusal(
  { filter, code, required, reported }: NodeRefusal,
  at: number,
  explained: ExplainedCandidate,
  cure: Cure | undefined,
): Refusal {
  const steps = explained.fixes[at] ?? []
  let fix = ''
  for (const step of steps) {
    const text = textIn(cure, step, explained) ?? textOfStep(step, explained)
    fix = fix === '' ? text : `${fix} ${text}`
  }
  return { filter, code, required, reported, fix: fix === '' ? textWithoutRemedy(code, explained) : fix }
}

/** The text of a step from the remedy of the node; undefined if the remedy does not contain the step. */
function textIn(
  cure: Cure | undefined,
  step: PricedStep,
  { remedy }: ExplainedCandidate,
): string | undefined {
  return remedy && cure?.changes[remedy.steps.indexOf(step)]?.text
}

export function toCure({ steps }: Remedy, node: ExplainedCandidate): Cure {
  const changes = steps.map((step) => toChange(step, node))
  return { text: changes.map(({ text }) => text).join(' '), changes }
}

/**
 * Converts a step to the form of the API without its amount. Properties are copied one by one for speed, because an
 * explanation has thousands of changes.
 */
function toChange(step: PricedStep, node: ExplainedCandidate): Change {
  const { kind, label, value, constraint, demand, resources, deployment, network, nodeId, limit } = step
  const change: Change = { kind, text: textOfStep(step, node) }
  if (label !== undefined) change.label = label
  if (value !== undefined) change.value = value
  if (constraint !== undefined) change.constraint = quoteConstraint(constraint).constraint
  if (demand !== undefined) change.demand = demand
  if (resources !== undefined) change.resources = resources
  if (deployment !== undefined) change.deployment = deployment
  if (network !== undefined) change.network = network
  if (nodeId !== undefined) change.nodeId = nodeId
  if (limit !== undefined) change.limit = limit
  return change
}
