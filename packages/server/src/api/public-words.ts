// Words that every response may contain: field names and enumeration values of the public API. A response that contains
// such a word does not leak a secret that happens to equal the word. See docs/adr/0030-the-taint-guard.md.

import type { Shape, ShapeNode } from '@holdfast/contract'
import { COLLECTIONS } from '../store/records.ts'
import type { DescribedEndpoint } from './endpoint.ts'

/** Returns the field names and enumeration values of all records, request bodies and responses, one per line. */
export function publicWords(endpoints: readonly DescribedEndpoint[]): string {
  const words = new Set<string>()
  for (const { shape } of COLLECTIONS) gather(shape, words)
  for (const { body, success, dryRun } of endpoints)
    for (const shape of [body, success.shape, dryRun]) if (shape !== undefined) gather(shape, words)
  return [...words].join('\n')
}

function gather(shape: Shape<unknown>, words: Set<string>): void {
  if (shape.kind === 'string') for (const word of shape.values ?? []) words.add(word)
  if (shape.kind === 'object') for (const name of Object.keys(shape.fields)) words.add(name)
  for (const inner of innerShapes(shape)) gather(inner, words)
}

function innerShapes(shape: ShapeNode): readonly ShapeNode[] {
  if (shape.kind === 'object') return Object.values(shape.fields)
  if (shape.kind === 'list') return [shape.element]
  if (shape.kind === 'map') return [shape.value]
  return shape.kind === 'optional' || shape.kind === 'nullable' ? [shape.inner] : []
}
