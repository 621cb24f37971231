// Visits the members of a map, so that each of them is carried over or gets a finding: members without a handler are
// refused, and nothing is left out.

import { nearestName } from '@holdfast/contract'
import type { Report } from './report.ts'
import { isEmpty, type Written, type WrittenMap } from './source/written.ts'

export type Handler = (member: Written) => void

export interface Visit {
  readonly report: Report
  readonly handlers: { readonly [key: string]: Handler }
  /** The reason why a known member without a handler is refused, and what to do. */
  readonly refusals?: Refusals
}

export interface Refusals {
  readonly [key: string]: readonly [why: string, next?: string]
}

const EXTENSION = 'Members that begin with x- have no meaning in Compose; their anchors were resolved.'
const NO_VALUE = 'It has no value, which is the same as no member.'

export function visitMembers(map: WrittenMap, { report, handlers, refusals = {} }: Visit): void {
  for (const [key, member] of map.members) {
    report.carried(member)
    if (key.startsWith('x-')) report.ignored(member, EXTENSION)
    else if (Object.hasOwn(handlers, key)) handlers[key]?.(member)
    else if (isEmpty(member)) report.ignored(member, NO_VALUE)
    else if (Object.hasOwn(refusals, key)) report.refused(member, ...(refusals[key] ?? ['']))
    else report.refused(member, unknownText(key, [...Object.keys(handlers), ...Object.keys(refusals)]))
  }
}

function unknownText(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known)
  return `Compose has no such member here${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
}

/** The member as a map. Refuses everything else but an empty value, which is an empty map. */
export function mapOf(report: Report, node: Written): WrittenMap | undefined {
  if (node.kind === 'map') return node
  if (isEmpty(node)) return { kind: 'map', steps: node.steps, offset: node.offset, members: new Map() }
  report.refused(node, 'It is not a map.')
  return undefined
}

/** The elements of a list. Refuses everything else but an empty value, which is an empty list. */
export function itemsOf(report: Report, node: Written): readonly Written[] {
  if (node.kind === 'list') return node.items
  if (!isEmpty(node)) report.refused(node, 'It is not a list.')
  return []
}

/** The elements of a list, or the one value that Compose accepts in place of a list of one. */
export const oneOrMany = (node: Written): readonly Written[] => {
  if (node.kind === 'list') return node.items
  return isEmpty(node) ? [] : [node]
}
