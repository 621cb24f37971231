// Explains why a deployment fits on no node: a one-sentence summary, every node with its refusals and their fixes, the
// remedies, and a text by which two explanations are compared. See docs/design/placement.md#explanations

import type { Candidate, Change, Cure, Refusal } from '@holdfast/contract'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { quoteConstraint } from './labels.ts'
import { lazy, memoizeByValue } from './memoize.ts'
import type { NodeRefusal } from './refusal.ts'
import {
  ANOTHER_NODE,
  FIRST_NODE,
  textOfStep,
  textOfSteps,
  textWithoutRemedy,
} from './remedies/change-text.ts'
import { compareCosts, type PricedStep } from './remedies/cost.ts'
import type { ExplainedCandidate, Remedy } from './remedies/find-remedies.ts'

export interface Explanation {
  readonly summary: string
  /** The candidate nodes in the form of the API. */
  readonly candidates: Candidate[]
  /** Remedies, the cheapest first. Any one of the remedies makes some node accept a replica. */
  readonly cure: string[]
  /**
   * A text that is equal while the same nodes refuse for the same reasons. A new event is emitted only when this text
   * changes.
   */
  readonly canonical: string
}

const MAX_REMEDIES = 10

export function explainCandidates(explained: readonly ExplainedCandidate[]): Explanation {
  return new LazyExplanation(explained)
}

/**
 * An explanation whose candidates and canonical text are built when they are read, because most explanations are never
 * read in full. A class is used because V8 gives every object literal with getters a hidden class of its own, which keeps
 * all candidates in memory.
 */
class LazyExplanation implements Explanation {
  readonly summary: string
  readonly cure: string[]
  readonly #candidates: () => Candidate[]
  readonly #canonical: () => string

  constructor(explained: readonly ExplainedCandidate[]) {
    this.summary = summaryOf(explained)
    this.cure = remedyTexts(explained)
    this.#candidates = lazy(() => explained.map(toCandidate))
    this.#canonical = lazy(() => canonicalOf(explained))
  }

  get candidates(): Candidate[] {
    return this.#candidates()
  }

  get canonical(): string {
    return this.#canonical()
  }
}

function toCandidate(explained: ExplainedCandidate): Candidate {
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
  const { kind, label, value, constraint, demand, resources, deployment, nodeId, limit } = step
  const change: Change = { kind, text: textOfStep(step, node) }
  if (label !== undefined) change.label = label
  if (value !== undefined) change.value = value
  if (constraint !== undefined) change.constraint = quoteConstraint(constraint).constraint
  if (demand !== undefined) change.demand = demand
  if (resources !== undefined) change.resources = resources
  if (deployment !== undefined) change.deployment = deployment
  if (nodeId !== undefined) change.nodeId = nodeId
  if (limit !== undefined) change.limit = limit
  return change
}

function summaryOf(explained: readonly ExplainedCandidate[]): string {
  if (explained.length === 0) return 'No node of this tenant is enrolled, so no replica can be placed.'
  const accepting = explained.filter(({ refusals }) => refusals.length === 0).length
  const heading = `${accepting} of ${explained.length} nodes ${accepting === 1 ? 'fits' : 'fit'}`
  const reasons = countedReasons(explained).map(([phrase, count]) => `${count} ${phrase}`)
  return reasons.length === 0 ? `${heading}.` : `${heading}: ${reasons.join(', ')}.`
}

/**
 * The reasons why nodes refuse a replica, each with the number of refusing nodes: most frequent first and otherwise in
 * the order of the filters. A node is counted for each of its reasons.
 */
function countedReasons(explained: readonly ExplainedCandidate[]): [string, number][] {
  const counted = memoizeByValue((_code: string) => ({ count: 0 }))
  for (const { refusals } of explained) for (const { code } of refusals) counted(code).count += 1
  return PLACEMENT_FILTERS.flatMap(({ phrases }) => Object.entries(phrases))
    .flatMap(([code, phrase]): [string, number][] => {
      const { count } = counted(code)
      return count === 0 ? [] : [[phrase, count]]
    })
    .sort(([, left], [, right]) => right - left)
}

/**
 * The texts of the remedies, cheapest first. Equally cheap remedies are in the order of the nodes, and a text that
 * several nodes share appears once.
 */
function remedyTexts(explained: readonly ExplainedCandidate[]): string[] {
  if (explained.length === 0) return [FIRST_NODE]
  const texts = new Set<string>()
  const remedied = explained.filter(hasRemedy)
  remedied.sort((left, right) => compareCosts(left.remedy.cost, right.remedy.cost))
  for (const candidate of remedied) {
    if (texts.size === MAX_REMEDIES) break
    texts.add(textOfSteps(candidate.remedy.steps, candidate))
  }
  return texts.size === 0 && explained.every(({ refusals }) => refusals.length > 0)
    ? [enrollmentText(explained)]
    : [...texts]
}

interface RemediedCandidate extends ExplainedCandidate {
  readonly remedy: Remedy
}

const hasRemedy = (candidate: ExplainedCandidate): candidate is RemediedCandidate =>
  candidate.remedy !== undefined

const ABOUT_TENANT = new Set<string>(['residency_enforcement', 'quota'])

/**
 * Advice to enroll another node, for the case that no change makes an existing node fit. Changes that the tenant itself
 * needs, such as a larger quota, are added.
 */
function enrollmentText([first]: readonly ExplainedCandidate[]): string {
  if (first === undefined) return ANOTHER_NODE
  const others = first.refusals.flatMap(({ filter }, at) =>
    ABOUT_TENANT.has(filter) ? textOfSteps(first.fixes[at] ?? [], first) : [],
  )
  return [ANOTHER_NODE, ...others].join(' ')
}

/**
 * Text that is equal for equal explanations. Each different refusal is written once and gets a number; each node is written
 * with the numbers of the refusals it has. Filters and nodes come in a fixed order, so nothing is sorted here.
 */
function canonicalOf(explained: readonly ExplainedCandidate[]): string {
  const { numberOf, texts } = createRefusalNumbers()
  const pieces: string[] = []
  for (const { nodeId, refusals } of explained) {
    let line: string = nodeId
    for (const refusal of refusals) line += ` ${numberOf(refusal)}`
    pieces.push(line)
  }
  return [...texts, ...pieces].join('\n')
}

const RECORD_FILTERS = new Set<string>(
  PLACEMENT_FILTERS.flatMap(({ name, reportsRecordFact }) => (reportsRecordFact ? [name] : [])),
)

/**
 * Numbers the different refusals. Refusals about facts in a node's record are distinguished by the required and reported
 * values. All other refusals are distinguished by their code alone: their reported values change all the time and are no
 * new reason, and their required values are the same in the whole explanation.
 */
function createRefusalNumbers() {
  const texts: string[] = []
  const byText = memoizeByValue((text: string) => texts.push(text))
  const known = new Map<NodeRefusal | string, number>()
  const numberOf = (refusal: NodeRefusal): number => {
    const isRecordFact = RECORD_FILTERS.has(refusal.filter)
    const key = isRecordFact ? refusal : refusal.code
    const before = known.get(key)
    if (before !== undefined) return before
    const { filter, code, required, reported } = refusal
    const number = byText(
      JSON.stringify(isRecordFact ? [filter, code, required, reported] : [filter, code, required]),
    )
    known.set(key, number)
    return number
  }
  return { texts, numberOf }
}
