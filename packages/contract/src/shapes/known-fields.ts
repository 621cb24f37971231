// Messages of a peer that may be a minor version ahead (DECISIONS 10): what it says beside the known fields is left out, and
// the known fields are as strict as ever. For messages only; a request or a record with an unknown field is a fault.

import type { Shape, ShapeNode } from './shape.ts'
import { decode } from './shape-faults.ts'

/** `value` is the caller's own, fresh from the parser: it is changed in place. */
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
