// The small bodies of tenants, tokens and credentials: all faults at once, in the order of DECISIONS 2.

import {
  findShapeFaults,
  isJsonObject,
  type Json,
  type ObjectNode,
  type Rejection,
  type ShapeFault,
} from '@holdfast/contract'
import { reject } from '@holdfast/core'

/** What a field must be beyond its type; asked of values of the right type only. Each rejection is of another value. */
export type FieldCheck = (value: Json) => Rejection | readonly Rejection[] | undefined
export type FieldChecks = { readonly [field: string]: FieldCheck }

/** Unknown fields first, then the others in the order of the shape; per value the first rule that fails. */
export function checkShape(shape: ObjectNode, body: Json, checks: FieldChecks = {}): Rejection[] {
  const faults = findShapeFaults(shape, body)
  if (!isJsonObject(body)) return faults.map(rejectionOf)
  const unknown = faults.filter(({ kind }) => kind === 'unknown')
  const judged = Object.keys(shape.fields).flatMap((field) => {
    const own = faults.filter(({ kind, path }) => kind !== 'unknown' && isWithin(path, field))
    const value = body[field]
    if (own.length > 0 || value === undefined) return own.map(rejectionOf)
    return checks[field]?.(value) ?? []
  })
  return [...unknown.map(rejectionOf), ...judged]
}

const isWithin = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)

function rejectionOf({ kind, path, value, expected }: ShapeFault): Rejection {
  const received = value as Json | undefined
  if (path === 'name' && (value === undefined || value === null))
    return reject('name_required', path, received)
  const accepted = kind === 'unknown' ? expected.replace(/^one of /, '') : expected
  return reject(kind === 'unknown' ? 'field_unknown' : 'field_type_invalid', path, received, { accepted })
}
