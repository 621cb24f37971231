// The small bodies of tenants, tokens and credentials: types and unknown fields by their shape, all faults at once.

import { findShapeFaults, type Json, type Rejection, type Shape } from '@holdfast/contract'
import { reject } from '@holdfast/core'

/** Unknown fields first, then the others in the order of the shape (DECISIONS 2). */
export function checkShape(shape: Shape<unknown>, body: Json): Rejection[] {
  const faults = findShapeFaults(shape, body)
  const ordered = [
    ...faults.filter(({ kind }) => kind === 'unknown'),
    ...faults.filter(({ kind }) => kind !== 'unknown'),
  ]
  return ordered.map(({ kind, path, value, expected }) => {
    const accepted = kind === 'unknown' ? expected.replace(/^one of /, '') : expected
    return reject(
      kind === 'unknown' ? 'field_unknown' : 'field_type_invalid',
      path,
      value as Json | undefined,
      { accepted },
    )
  })
}
