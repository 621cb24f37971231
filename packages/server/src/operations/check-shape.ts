// The small bodies of tenants, tokens and credentials: all faults at once, in the order of DECISIONS 2.

import {
  findShapeFaults,
  isJsonObject,
  type Json,
  type ObjectNode,
  type Rejection,
  type ShapeFault,
} from '@holdfast/contract'
import { reject, safeField } from '@holdfast/core'

/** What a field must be beyond its type; asked of values of the right type only. Each rejection is of another value. */
export type FieldCheck = (value: Json) => Rejection | readonly Rejection[] | undefined
export type FieldChecks = { readonly [field: string]: FieldCheck }

export interface ShapeCheck {
  readonly checks?: FieldChecks
  /** The body holds a credential: then a misspelt `password` is an unknown field, and nothing unknown is repeated. */
  readonly secret?: boolean
}

/** Unknown fields first, then the others in the order of the shape; per value the first rule that fails. */
export function checkShape(
  shape: ObjectNode,
  body: Json,
  { checks = {}, secret = false }: ShapeCheck = {},
): Rejection[] {
  const faults = findShapeFaults(shape, body)
  const rejectionOf = (fault: ShapeFault) => rejectFault(fault, secret)
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

/** Made of the client's own keys: redacted where one is a credential, and never long. */
function quotedField(path: string): string {
  const safe = safeField(path.slice(0, MAX_JUDGED))
  return safe.length <= MAX_QUOTED ? safe : `${safe.slice(0, MAX_QUOTED)}...`
}
