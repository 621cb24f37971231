// Checks small request bodies against a shape and reports all faults at once (docs/design/admission.md#rejections).

import {
  findShapeFaults,
  isJsonObject,
  type Json,
  type ObjectNode,
  type Rejection,
  type ShapeFault,
} from '@holdfast/contract'
import { reject, safeField } from '@holdfast/core'

/** Checks the value of one field, which already has the right type. Each rejection is about a different value. */
export type FieldCheck = (value: Json) => Rejection | readonly Rejection[] | undefined
export type FieldChecks = { readonly [field: string]: FieldCheck }

export interface ShapeCheck {
  readonly checks?: FieldChecks
  /**
   * True if the body contains a credential. Names of unknown fields are then not quoted: one may be a misspelled
   * `password`.
   */
  readonly secret?: boolean
}

/** Returns the rejections of a body: unknown fields first, then one per wrong value, in the order of the shape. */
export function checkShape(
  shape: ObjectNode,
  body: Json,
  { checks = {}, secret = false }: ShapeCheck = {},
): Rejection[] {
  const faults = findShapeFaults(shape, body)
  const rejectionOf = (fault: ShapeFault) => rejectFault(fault, secret)
  if (!isJsonObject(body)) return faults.map(rejectionOf)
  const unknown = faults.filter(({ kind }) => kind === 'unknown')
  const rejected = Object.keys(shape.fields).flatMap((field) => {
    const own = faults.filter(({ kind, path }) => kind !== 'unknown' && isWithin(path, field))
    const value = body[field]
    if (own.length > 0 || value === undefined) return own.map(rejectionOf)
    return checks[field]?.(value) ?? []
  })
  return [...unknown.map(rejectionOf), ...rejected]
}

const isWithin = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)

function rejectFault({ kind, path, value, expected }: ShapeFault, secret: boolean): Rejection {
  const received = value as Json | undefined
  if (path === 'name' && (value === undefined || value === null))
    return reject('name_required', path, received)
  const field = quotedField(path)
  if (kind !== 'unknown') return reject('field_type_invalid', field, received, { accepted: expected })
  const params = { accepted: expected.replace(/^one of /, '') }
  return reject('field_unknown', field, received, params, secret ? '<redacted>' : undefined)
}

const MAX_JUDGED = 1024
const MAX_QUOTED = 256

/** A field path for an error message: shortened, and with keys that look like credentials redacted. */
function quotedField(path: string): string {
  const safe = safeField(path.slice(0, MAX_JUDGED))
  return safe.length <= MAX_QUOTED ? safe : `${safe.slice(0, MAX_QUOTED)}...`
}
