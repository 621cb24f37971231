// Explains why a deployment fits on no node: a one-sentence summary, every node with its refusals and their fixes, the
// remedies, and a text by which two explanations are compared. See docs/design/placement.md#explanations

import type { Candidate, NodeGroup } from '@holdfast/contract'
import { toCandidate } from './candidate-texts.ts'
import { type Counted, type CountedAnswer, countAnswers, MAX_REMEDIES } from './count-answers.ts'
import type { ExplainedCandidate, SharedAnswer } from './explain-nodes.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { groupNodes } from './groups.ts'
import { lazy, memoizeByValue } from './memoize.ts'
import type { NodeRefusal } from './refusal.ts'
import { ANOTHER_NODE, FIRST_NODE, textOfSteps } from './remedies/change-text.ts'
import { type Cost, compareCosts } from './remedies/cost.ts'

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
  /** The different answers of the nodes, each with the number of nodes that share it. */
  readonly answers: readonly { readonly answer: SharedAnswer; readonly count: number }[]
  readonly count: number
  /** Every node, in groups of equal reasons. */
  readonly groups: NodeGroup[]
}

export function explainCandidates(explained: readonly ExplainedCandidate[]): Explanation {
  return new LazyExplanation(explained)
}

/**
 * An explanation whose candidates, groups and canonical text are built when they are read, because most explanations are
 * never read in full. The candidates are built at each access, because their texts need much memory. A class is used because V8 gives every object literal with getters a hidden class of its own, which keeps
 * all candidates in memory.
 */
class LazyExplanation implements Explanation {
  readonly summary: string
  readonly cure: string[]
  readonly answers: readonly CountedAnswer[]
  readonly count: number
  readonly #explained: readonly ExplainedCandidate[]
  readonly #groups: () => NodeGroup[]
  readonly #canonical: () => string

  constructor(explained: readonly ExplainedCandidate[]) {
    const counted = countAnswers(explained)
    this.answers = counted.answers
    this.count = explained.length
    this.summary = summaryOf(explained.length, this.answers)
    this.cure = remedyTexts(explained, this.answers)
    this.#explained = explained
    this.#groups = lazy(() => groupNodes(explained, counted))
    this.#canonical = lazy(() => canonicalOf(explained, counted))
  }

  get candidates(): Candidate[] {
    return this.#explained.map(toCandidate)
  }

  get groups(): NodeGroup[] {
    return this.#groups()
  }

  get canonical(): string {
    return this.#canonical()
  }
}

function summaryOf(total: number, answers: readonly CountedAnswer[]): string {
  if (total === 0) return 'No node of this tenant is enrolled, so no replica can be placed.'
  const accepting = answers.reduce(
    (sum, { answer, count }) => sum + (answer.refusals.length === 0 ? count : 0),
    0,
  )
  const heading = `${accepting} of ${total} nodes ${accepting === 1 ? 'fits' : 'fit'}`
  const reasons = countedReasons(answers).map(([phrase, count]) => `${count} ${phrase}`)
  return reasons.length === 0 ? `${heading}.` : `${heading}: ${reasons.join(', ')}.`
}

/**
 * The reasons why nodes refuse a replica, each with the number of refusing nodes: most frequent first and otherwise in
 * the order of the filters. A node is counted for each of its reasons.
 */
function countedReasons(answers: readonly CountedAnswer[]): [string, number][] {
  const counted = memoizeByValue((_code: string) => ({ count: 0 }))
  for (const { answer, count } of answers)
    for (const { code } of answer.refusals) counted(code).count += count
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
function remedyTexts(explained: readonly ExplainedCandidate[], answers: readonly CountedAnswer[]): string[] {
  if (explained.length === 0) return [FIRST_NODE]
  const texts = new Set<string>()
  for (const { first } of cheapestAnswers(answers))
    for (const at of first.sort((left, right) => left - right)) {
      const candidate = explained[at]
      if (texts.size < MAX_REMEDIES && candidate?.remedy !== undefined)
        texts.add(textOfSteps(candidate.remedy.steps, candidate))
    }
  return texts.size === 0 && answers.every(({ answer }) => answer.refusals.length > 0)
    ? [enrollmentText(explained)]
    : [...texts]
}

/**
 * The answers with the cheapest remedies, cheapest first; equally cheap ones together. Each cost contributes at least one
 * text, so no more costs are needed than texts are listed.
 */
function cheapestAnswers(answers: readonly CountedAnswer[]): { cost: Cost; first: number[] }[] {
  const cheapest: { cost: Cost; first: number[] }[] = []
  for (const { answer, first } of answers) {
    const cost = answer.remedy?.cost
    if (cost === undefined) continue
    let at = cheapest.length
    let before = cheapest[at - 1]
    while (before !== undefined && compareCosts(before.cost, cost) > 0) {
      at -= 1
      before = cheapest[at - 1]
    }
    if (before !== undefined && compareCosts(before.cost, cost) === 0) before.first.push(...first)
    else cheapest.splice(at, 0, { cost, first: [...first] })
    if (cheapest.length > MAX_REMEDIES) cheapest.pop()
  }
  return cheapest
}

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
 * Text that is equal for equal explanations. Each different refusal is written once and gets a number; the ids of the
 * nodes with the same refusals follow their numbers. Filters and nodes come in a fixed order, so nothing is sorted here.
 */
function canonicalOf(explained: readonly ExplainedCandidate[], { answers, indexOf }: Counted): string {
  const { numberOf, texts } = createRefusalNumbers()
  const lines = new Map<string, { ids: string[] }>()
  const lineOf = answers.map(({ answer }) => {
    const numbers = answer.refusals.map(numberOf).join(' ')
    const line = lines.get(numbers) ?? { ids: [] }
    lines.set(numbers, line)
    return line
  })
  for (const [at, { nodeId }] of explained.entries()) lineOf[indexOf[at] ?? 0]?.ids.push(nodeId)
  const written = [...lines].map(([numbers, { ids }]) => `${numbers}: ${ids.join(' ')}`)
  return [...texts, ...written].join('\n')
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
