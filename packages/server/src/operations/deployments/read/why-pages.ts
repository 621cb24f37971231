// Pages of an explanation: its nodes by name, or its groups. A page is bounded by number and by bytes, because one node may
// have many reasons and one group thousands of nodes.

import { type Candidate, type NodeGroup, type NodeId, utf8Length } from '@holdfast/contract'
import { done, type Outcome, refused } from '../../caller.ts'
import { encodeCursor, type PageRequest, readCursor } from '../../page.ts'

/** The most bytes of the nodes or groups of one page. */
const PAGE_BYTES = 250 * 1024

/** Nodes that are listed by name; a node is built only if it is on the page. */
export interface ListedNodes {
  readonly names: readonly string[]
  candidateAt(position: number): Candidate | undefined
}

export interface CandidatePage {
  readonly candidates: Candidate[]
  readonly nextCursor: string | null
}

export function pageCandidates(
  { names, candidateAt }: ListedNodes,
  { limit, cursor }: PageRequest,
): Outcome<CandidatePage> {
  const from = readCursor(cursor)
  if (!from.ok) return refused(from.rejection)
  const { after } = from
  const start = after === undefined ? 0 : names.findIndex((name) => name > after)
  const candidates: Candidate[] = []
  let bytes = 0
  let at = start < 0 ? names.length : start
  for (; at < names.length && candidates.length < limit; at += 1) {
    const candidate = candidateAt(at)
    if (candidate === undefined) continue
    bytes += utf8Length(JSON.stringify(candidate)) + 1
    if (bytes > PAGE_BYTES && candidates.length > 0) break
    candidates.push(candidate)
  }
  const last = candidates.at(-1)
  const isLast = at >= names.length || last === undefined
  return done({ candidates, nextCursor: isLast ? null : encodeCursor(last.nodeName) })
}

export interface GroupPage {
  readonly groups: NodeGroup[]
  readonly nextCursor: string | null
}

/** The cursor of groups: the number of a group, and the number of its nodes on earlier pages. */
const POSITION = /^(\d{1,6})\.(\d{1,6})$/

/** A group whose nodes do not fit is continued on the next page, with the same reasons and the same count. */
export function pageGroups(all: readonly NodeGroup[], { limit, cursor }: PageRequest): Outcome<GroupPage> {
  const from = readCursor(cursor)
  if (!from.ok) return refused(from.rejection)
  const [, first = '0', named = '0'] = POSITION.exec(from.after ?? '') ?? []
  let [at, skipped] = [Number(first), Number(named)]
  const groups: NodeGroup[] = []
  let left = PAGE_BYTES
  for (; at < all.length && groups.length < limit; at += 1) {
    const group = all[at]
    if (group === undefined) break
    left -= utf8Length(JSON.stringify({ ...group, nodes: [] }))
    if (left < 0 && groups.length > 0) break
    const nodes = namesWithin(skipped === 0 ? group.nodes : group.nodes.slice(skipped), left)
    left -= bytesOfNames(nodes)
    groups.push({ ...group, nodes })
    if (skipped + nodes.length < group.nodes.length) {
      skipped += nodes.length
      break
    }
    skipped = 0
  }
  return done({ groups, nextCursor: at < all.length ? encodeCursor(`${at}.${skipped}`) : null })
}

const QUOTED_BYTES = 3

const bytesOfNames = (names: readonly string[]): number =>
  utf8Length(names.join('')) + names.length * QUOTED_BYTES

/** The first names that need at most so many bytes, but at least one. */
function namesWithin(names: readonly string[], bytes: number): string[] {
  if (bytesOfNames(names) <= bytes) return [...names]
  const first: string[] = []
  let left = bytes
  for (const name of names) {
    left -= utf8Length(name) + QUOTED_BYTES
    if (left < 0 && first.length > 0) break
    first.push(name)
  }
  return first
}

/** The nodes of stored groups, by name. Their ids are those of the nodes that still have these names. */
export function nodesOfGroups(
  groups: readonly NodeGroup[],
  idOf: (name: string) => NodeId | undefined,
): ListedNodes {
  const all = groups.flatMap((group) => group.nodes.map((name) => ({ name, group })))
  all.sort((left, right) => (left.name < right.name ? -1 : 1))
  return {
    names: all.map(({ name }) => name),
    candidateAt(position) {
      const found = all[position]
      if (found === undefined) return undefined
      const refusals = found.group.reasons.map((reason) => ({ ...reason, fix: reason.fix ?? '' }))
      return { nodeId: idOf(found.name) ?? ('' as NodeId), nodeName: found.name, refusals }
    },
  }
}

/** Groups of nodes that are stored one by one. */
export function groupsOfCandidates(candidates: readonly Candidate[]): NodeGroup[] {
  const equal = Map.groupBy(candidates, ({ refusals }) =>
    JSON.stringify(
      refusals.map(({ filter, code, required, reported }) => [filter, code, required, reported]),
    ),
  )
  return [...equal.values()]
    .map((members): NodeGroup => {
      const [first] = members
      const { refusals = [], cure } = first ?? {}
      const isAlone = members.length === 1
      return {
        reasons: refusals.map(({ fix, ...reason }) => (isAlone ? { ...reason, fix } : reason)),
        ...(cure === undefined ? {} : { cure }),
        count: members.length,
        nodes: members.map(({ nodeName }) => nodeName),
      }
    })
    .sort((left, right) => right.count - left.count)
}
