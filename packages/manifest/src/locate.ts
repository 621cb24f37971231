// Finds the position of a field in a manifest file. A missing value is located at its key; a missing field is located at
// the key of its parent, or at the first key of its list element.

import type { PathStep } from '@holdfast/contract'
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml'

/** A part of a file's text, as character offsets. */
export interface Span {
  readonly start: number
  readonly end: number
}

type Place = { readonly node: Node | null; readonly key: Node | null }

export function locate(tree: Document, steps: readonly PathStep[]): Span {
  let place: Place = { node: tree.contents, key: null }
  for (const step of steps) {
    const next = stepInto(resolve(tree, place.node), step)
    if (next === undefined) return spanOf(place.key) ?? headOf(resolve(tree, place.node)) ?? startOf(tree)
    place = next
  }
  return spanOf(place.node) ?? spanOf(place.key) ?? startOf(tree)
}

function stepInto(node: Node | null, step: PathStep): Place | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
    return pair === undefined ? undefined : placeOf(pair)
  }
  const element: unknown = isSeq(node) && typeof step === 'number' ? node.items[step] : undefined
  return isNodeLike(element) ? { node: element, key: null } : undefined
}

const placeOf = ({ key, value }: Pair): Place => ({
  key: isNodeLike(key) ? key : null,
  node: isNodeLike(value) ? value : null,
})

export const isNodeLike = (value: unknown): value is Node =>
  isAlias(value) || isMap(value) || isScalar(value) || isSeq(value)

const resolve = (tree: Document, node: Node | null): Node | null =>
  isAlias(node) ? (node.resolve(tree) ?? null) : node

/** The position of a YAML node; undefined for an empty node, such as the value of `image:` without text. */
function spanOf(node: Node | null): Span | undefined {
  const [start = 0, end = 0] = node?.range ?? []
  return end > start ? { start, end } : undefined
}

/** The position of the first key of a list element or document; without keys, of the whole YAML node. */
function headOf(node: Node | null): Span | undefined {
  const [first] = isMap(node) ? node.items : []
  return spanOf(first === undefined ? null : placeOf(first).key) ?? spanOf(node)
}

function startOf({ contents }: Document): Span {
  const start = contents?.range?.[0] ?? 0
  return headOf(contents) ?? { start, end: start + 1 }
}
