// A matrix of refusals in words: the one sentence of a status, what would help, and a text by which two matrices are told
// apart. SPEC 3, DECISIONS 2 and 7.

import type { Candidate, Json, Refusal } from '@holdfast/contract'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { compareCosts } from './remedies/cost.ts'
import { cureText, type ExplainedCandidate, type FoundCure, toCure } from './remedies/find-remedies.ts'
import { once, rememberedBy } from './remembered.ts'

export interface Explanation {
  readonly summary: string
  /** As they are told to the outside. */
  readonly candidates: Candidate[]
  /** Cures of which any one would place a replica, the cheapest first. */
  readonly cure: string[]
  /** Equal as long as the same nodes refuse for the same reasons: one event then, however often it is asked. */
  readonly canonical: string
}

const MAX_CURES = 10

export function explainCandidates(explained: readonly ExplainedCandidate[]): Explanation {
  return new ExplainedMatrix(explained)
}

/**
 * The matrix in full and the text of it are made when they are read: a refusal that was told already needs no words. A
 * class, since an object that is written with getters of its own gets a hidden class of its own: the engine keeps that, and
 * by it the whole matrix, until it cleans up the old objects.
 */
class ExplainedMatrix implements Explanation {
  readonly summary: string
  readonly cure: string[]
  readonly #candidates: () => Candidate[]
  readonly #canonical: () => string

  constructor(explained: readonly ExplainedCandidate[]) {
    this.summary = summaryOf(explained)
    this.cure = curesOf(explained)
    this.#candidates = once(() => explained.map(toCandidate))
    this.#canonical = once(() => canonicalOf(explained))
  }

  get candidates(): Candidate[] {
    return this.#candidates()
  }

  get canonical(): string {
    return this.#canonical()
  }
}

/** As it is told to the outside: what a cure costs is for the scheduler alone. */
function toCandidate({ nodeId, nodeName, refusals, cure }: ExplainedCandidate): Candidate {
  return cure === undefined
    ? { nodeId, nodeName, refusals }
    : { nodeId, nodeName, refusals, cure: toCure(cure) }
}

function summaryOf(explained: readonly ExplainedCandidate[]): string {
  if (explained.length === 0) return 'No node of this tenant is enrolled, so no replica can be placed.'
  const accepting = explained.filter(({ refusals }) => refusals.length === 0).length
  const heading = `${accepting} of ${explained.length} ${explained.length === 1 ? 'node accepts' : 'nodes accept'}`
  const reasons = countedReasons(explained).map(([phrase, count]) => `${count} ${phrase}`)
  return reasons.length === 0 ? `${heading}.` : `${heading}: ${reasons.join(', ')}.`
}

/** The most frequent first, otherwise in the order of the filters. A node counts once for each of its reasons. */
function countedReasons(explained: readonly ExplainedCandidate[]): [string, number][] {
  const counted = rememberedBy((_code: string) => ({ count: 0 }))
  for (const { refusals } of explained) for (const { code } of refusals) counted(code).count += 1
  return PLACEMENT_FILTERS.flatMap(({ phrases }) => Object.entries(phrases))
    .flatMap(([code, phrase]): [string, number][] => {
      const { count } = counted(code)
      return count === 0 ? [] : [[phrase, count]]
    })
    .sort(([, left], [, right]) => right - left)
}

/** The cheapest first, of equal ones the first node's; what is the same for several nodes is said once. */
function curesOf(explained: readonly ExplainedCandidate[]): string[] {
  if (explained.length === 0) return ['Enroll a node.']
  const cures: FoundCure[] = []
  for (const { cure } of explained) if (cure !== undefined) cures.push(cure)
  const texts = new Set<string>()
  for (const cure of cures.sort((left, right) => compareCosts(left.cost, right.cost))) {
    if (texts.size === MAX_CURES) break
    texts.add(cureText(cure))
  }
  return texts.size === 0 && explained.every(({ refusals }) => refusals.length > 0)
    ? [enrollment(explained)]
    : [...texts]
}

const OF_THE_TENANT = new Set<string>(['residency_enforcement', 'quota'])

/** No node can be mended: another one would take a replica, unless what is asked of the tenant is in its way too. */
function enrollment([first]: readonly ExplainedCandidate[]): string {
  const others = first?.refusals.filter(({ filter }) => OF_THE_TENANT.has(filter)) ?? []
  return ['Enroll another node.', ...others.map(({ fix }) => fix)].join(' ')
}

/**
 * What is reported of running replicas moves all the time and makes no other reason; what a record says does. The filters
 * write the fields of each value in one order, and the nodes come in the order of their names, so nothing has to be sorted.
 */
function canonicalOf(explained: readonly ExplainedCandidate[]): string {
  const textOf = rememberedTexts()
  const pieces: string[] = []
  for (const { nodeId, refusals } of explained) {
    if (pieces.length > 0) pieces.push('\n')
    pieces.push(nodeId)
    for (const refusal of refusals) pieces.push(textOf(refusal))
  }
  return pieces.join('')
}

const OF_RECORDS = new Set<string>(PLACEMENT_FILTERS.flatMap(({ name, keptFor }) => (keptFor ? [name] : [])))
const MAX_TEXTS = 256

/** What a filter says of many nodes is mostly one and the same, made of the same values. */
function rememberedTexts(): (refusal: Refusal) => string {
  const texts = new Map<Json, { readonly code: string; readonly required: Json; readonly text: string }>()
  return ({ filter, code, required, reported }) => {
    const isOfRecord = OF_RECORDS.has(filter)
    const key = isOfRecord ? reported : required
    const known = texts.get(key)
    if (known?.code === code && known.required === required) return known.text
    const told = isOfRecord ? [required, reported] : [required]
    // Joined, a text is in one piece and quickly copied, once for each node.
    const text = ['', filter, code, ...told.map((value) => JSON.stringify(value))].join(' ')
    if (texts.size < MAX_TEXTS) texts.set(key, { code, required, text })
    return text
  }
}
