// A matrix of refusals in words: the one sentence of a status, what would help, and a text by which two matrices are told
// apart. SPEC 3, DECISIONS 2 and 7.

import { type Candidate, canonicalJson, type Json } from '@holdfast/contract'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { type ExplainedCandidate, type NodeRefusal, toCandidate } from './refusal.ts'

export interface Explanation {
  readonly summary: string
  /** As they are told to the outside. */
  readonly candidates: Candidate[]
  /** Changes of which any one would place a replica, the smallest first. */
  readonly cure: string[]
  /** Equal as long as the same nodes refuse for the same reasons: one event then, however often it is asked. */
  readonly canonical: string
}

const MAX_CURES = 10

export function explainCandidates(explained: readonly ExplainedCandidate[]): Explanation {
  return {
    summary: summaryOf(explained),
    candidates: explained.map(toCandidate),
    cure: curesOf(explained),
    canonical: canonicalOf(explained),
  }
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
  const counts = new Map<string, number>()
  for (const { refusals } of explained)
    for (const { code } of refusals) counts.set(code, (counts.get(code) ?? 0) + 1)
  return PLACEMENT_FILTERS.flatMap(({ phrases }) => Object.entries(phrases))
    .flatMap(([code, phrase]): [string, number][] => {
      const count = counts.get(code)
      return count === undefined ? [] : [[phrase, count]]
    })
    .sort(([, left], [, right]) => right - left)
}

/** What one node still needs is done together or not at all; the nodes that need the least come first. */
function curesOf(explained: readonly ExplainedCandidate[]): string[] {
  if (explained.length === 0) return ['Enrol a node.']
  const texts = explained
    .filter(({ refusals }) => refusals.length > 0)
    .sort((left, right) => left.refusals.length - right.refusals.length)
    .map(({ refusals }) => refusals.map(({ fix }) => fix).join(' '))
  return [...new Set(texts)].slice(0, MAX_CURES)
}

/** What is reported of running replicas moves all the time and makes no other reason; what a record says does. */
function canonicalOf(explained: readonly ExplainedCandidate[]): string {
  const nodes = explained.map(({ nodeId, refusals }): Json => [nodeId, refusals.map(reasonOf)])
  return canonicalJson(nodes.map(canonicalJson).sort())
}

const OF_RECORDS = new Set<string>(PLACEMENT_FILTERS.flatMap(({ name, keptFor }) => (keptFor ? [name] : [])))

function reasonOf({ filter, code, required, reported }: NodeRefusal): Json {
  return OF_RECORDS.has(filter) ? [filter, code, required, reported] : [filter, code, required]
}
