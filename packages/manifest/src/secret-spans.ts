// Finds the parts of a file that error messages must not quote: the values and keys that the platform would redact.

import type { Json, PathStep } from '@holdfast/contract'
import { type Document, isMap, isScalar, isSeq, type Node } from 'yaml'
import { isNodeLike, type Span } from './locate.ts'
import { looksSecret } from './rules.ts'

export function secretSpans({ contents }: Document): Span[] {
  const spans: Span[] = []
  if (contents !== null) collect(contents, [], spans)
  return spans
}

/** Collects the secret parts of a YAML node. An alias is skipped: it shows only the name of another checked node. */
function collect(node: Node, steps: readonly PathStep[], spans: Span[]): void {
  if (isScalar(node) && looksSecret(steps, jsonOf(node.value))) hide(node, spans)
  if (isSeq(node)) {
    node.items.forEach((element, index) => {
      if (isNodeLike(element)) collect(element, [...steps, index], spans)
    })
  }
  if (!isMap(node)) return
  for (const { key, value } of node.items) {
    if (!isScalar(key)) continue
    const name = String(key.value)
    if (looksSecret([], { [name]: null })) hide(key, spans)
    if (isNodeLike(value)) collect(value, [...steps, name], spans)
  }
}

function hide({ range }: Node, spans: Span[]): void {
  const [start = 0, end = 0] = range ?? []
  spans.push({ start, end })
}

function jsonOf(value: unknown): Json {
  return typeof value === 'bigint' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    typeof value === 'string'
    ? value
    : null
}
