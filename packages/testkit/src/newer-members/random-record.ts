// Random values of a shape, for records whose content does not matter.

import type { Json, JsonObject, ShapeNode } from '@holdfast/contract'
import type { Below } from './add-members.ts'

const MOST_ELEMENTS = 3

/** A random value of a shape; optional members are present in half of the cases. */
export function randomOf(shape: ShapeNode, below: Below): Json {
  switch (shape.kind) {
    case 'string':
      return shape.values?.[below(shape.values.length)] ?? `text ${below(1_000_000)}`
    case 'duration':
      return `${1 + below(60)}s`
    case 'integer':
      return Math.max(shape.minimum ?? 0, 1) + below(5) * (shape.minimum === undefined ? 1 : 0)
    case 'boolean':
      return below(2) === 0
    case 'json':
      return { any: below(10) }
    case 'nullable':
      return below(3) === 0 ? null : randomOf(shape.inner, below)
    case 'optional':
      return randomOf(shape.inner, below)
    case 'list':
      return Array.from({ length: below(MOST_ELEMENTS) }, () => randomOf(shape.element, below))
    case 'map':
      return Object.fromEntries(
        Array.from({ length: below(MOST_ELEMENTS) }, (_, index) => [
          `k${index}`,
          randomOf(shape.value, below),
        ]),
      )
    case 'object':
      return randomObject(shape.fields, below)
  }
}

function randomObject(fields: { readonly [name: string]: ShapeNode }, below: Below): JsonObject {
  const present = Object.entries(fields).filter(([, { kind }]) => kind !== 'optional' || below(2) === 0)
  return Object.fromEntries(present.map(([name, field]) => [name, randomOf(field, below)]))
}
