// Reads messages of a peer that may be one minor version ahead: unknown fields are ignored, known fields are checked
// strictly. Only for protocol messages; in an API request or a stored record an unknown field is an error.

import type { Shape, ShapeNode } from './shape.ts'
import { decode } from './shape-faults.ts'

/** Decodes a message and ignores unknown fields. Removes these fields from `value`, so the caller must own `value`. */
export function decodeKnown<T>(shape: Shape<T>, value: unknown): T {
  dropUnknown(shape, value)
  return decode(shape, value)
}

function dropUnknown(shape: ShapeNode, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (shape.kind === 'optional' || shape.kind === 'nullable') dropUnknown(shape.inner, value)
  else if (shape.kind === 'list' && Array.isArray(value))
    for (const element of value) dropUnknown(shape.element, element)
  else if (shape.kind === 'map') for (const member of Object.values(value)) dropUnknown(shape.value, member)
  else if (shape.kind === 'object')
    for (const [key, member] of Object.entries(value)) {
      const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined
      if (field === undefined) Reflect.deleteProperty(value, key)
      else dropUnknown(field, member)
    }
}
