// Groups the nodes of an explanation by their reasons, so that an explanation of thousands of nodes can be read and
// stored. Few different answers are listed as they are; beyond that, groups that differ only in what their nodes report
// are merged, and the reported values become ranges. See docs/design/placement.md#groups

import { type Json, type NodeGroup, utf8Length } from '@holdfast/contract'
import { toCandidate } from './candidate-texts.ts'
import type { Counted } from './count-answers.ts'
import type { ExplainedCandidate, SharedAnswer } from './explain-nodes.ts'
import { compareCosts } from './remedies/cost.ts'

/** The most groups that are listed without merging. */
const MOST_EXACT = 20

/** Every node of the explanation, in groups: the largest group first, otherwise in the order of the first nodes. */
export function groupNodes(explained: readonly ExplainedCandidate[], counted: Counted): NodeGroup[] {
  const { answers, indexOf } = counted
  const isExact = answers.length <= MOST_EXACT
  const byKey = new Map<SharedAnswer | string, Members>()
  const groupOf = answers.map(({ answer, last }) => {
    const key = isExact ? answer : answer.reasons
    const group = byKey.get(key) ?? { answers: [], nodes: [] }
    byKey.set(key, group)
    const candidate = explained[last]
    if (candidate !== undefined) group.answers.push(candidate)
    return group
  })
  for (const [at, candidate] of explained.entries()) groupOf[indexOf[at] ?? 0]?.nodes.push(candidate)
  return [...byKey.values()].map(toGroup).sort((left, right) => right.count - left.count)
}

interface Members {
  /** For each different answer of the group, the last node with it. */
  readonly answers: ExplainedCandidate[]
  readonly nodes: ExplainedCandidate[]
}

function toGroup({ answers, nodes: members }: Members): NodeGroup {
  const [first] = answers
  if (first === undefined) throw new RangeError('a group has a node')
  const { cure } = toCandidate(answers.reduce(cheaper))
  const fixes = fixesOf(members, answers.length === 1)
  const reasons = first.refusals.map(({ filter, code, required }, at) => {
    const reported = mergeReported(answers.map(({ refusals }) => refusals[at]?.reported ?? null))
    const fix = fixes[at]
    return { filter, code, required, reported, ...(fix === undefined ? {} : { fix }) }
  })
  const nodes = members.map(({ nodeName }) => nodeName)
  return { reasons, ...(cure === undefined ? {} : { cure }), count: members.length, nodes }
}

/** The candidate with the cheaper remedy; the earlier one if both cost the same. */
function cheaper(left: ExplainedCandidate, right: ExplainedCandidate): ExplainedCandidate {
  if (left.remedy === undefined || right.remedy === undefined) return left.remedy === undefined ? right : left
  return compareCosts(right.remedy.cost, left.remedy.cost) < 0 ? right : left
}

/** For each reason its fix, if one text is right for every node of the group: of the first and the last node, at least. */
function fixesOf(members: readonly ExplainedCandidate[], isShared: boolean): (string | undefined)[] {
  const [first, last] = [members[0], members.at(-1)]
  if (first === undefined || last === undefined) return []
  const fixes = toCandidate(first).refusals.map(({ fix }) => fix)
  if (members.length === 1) return fixes
  const others = toCandidate(last).refusals.map(({ fix }) => fix)
  return fixes.map((fix, at) => (isShared && others[at] === fix ? fix : undefined))
}

/** The most different values that are listed for one reason. */
const MOST_VALUES = 8

/**
 * One value for all that the nodes of a group report: numbers become a range `{least, most}`, objects are merged member by
 * member, and of other values the first different ones are listed as `{anyOf}`.
 */
export function mergeReported(values: readonly Json[]): Json {
  const [first = null] = values
  if (values.every((value) => value === first)) return first
  if (values.every((value) => typeof value === 'number')) return rangeOf(values)
  if (values.every(isObject)) {
    const names = new Set(values.flatMap((value) => Object.keys(value)))
    return Object.fromEntries(
      [...names].map((name) => [name, mergeReported(values.flatMap((value) => value[name] ?? []))]),
    )
  }
  const different = new Map<string, Json>()
  for (const value of values)
    if (different.size < MOST_VALUES && value !== undefined) different.set(JSON.stringify(value), value)
  return different.size === 1 ? first : { anyOf: [...different.values()] }
}

function rangeOf(values: readonly number[]): Json {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  return least === most ? least : { least, most }
}

const isObject = (value: Json): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface GroupBounds {
  readonly bytes: number
  /** The most nodes that one group names. */
  readonly names: number
}

/** The groups within bounds: names beyond them are left out, `count` still has them; then whole groups, the smallest. */
export function boundGroups(groups: readonly NodeGroup[], { bytes, names }: GroupBounds): NodeGroup[] {
  const bare = groups.map((group) => ({ ...group, nodes: group.nodes.slice(0, 1) }))
  let left = bytes
  const kept = bare.filter((group) => {
    left -= utf8Length(JSON.stringify(group)) + 1
    return left >= 0
  })
  left = Math.max(0, left)
  return kept.map((group, at) => {
    const all = groups[at]?.nodes.slice(0, names) ?? []
    const bytesOfAll = utf8Length(all.slice(1).join('')) + (all.length - 1) * QUOTED_BYTES
    if (bytesOfAll <= left) {
      left -= Math.max(0, bytesOfAll)
      return { ...group, nodes: all }
    }
    const nodes: string[] = []
    for (const name of all) {
      left -= nodes.length === 0 ? 0 : utf8Length(name) + QUOTED_BYTES
      if (left < 0 && nodes.length > 0) break
      nodes.push(name)
    }
    return { ...group, nodes }
  })
}

/** The quotation marks and the comma of a name in a list. */
const QUOTED_BYTES = 3
