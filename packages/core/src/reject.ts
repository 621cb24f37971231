// Creates every rejection. The texts come from the error catalogue, and the received value is redacted.

import { type Code, entryOf, fillIn, type Json, type Rejection } from '@holdfast/contract'
import { boundedValue } from './bounded.ts'
import { describeReceived } from './credentials/index.ts'

/** Values for the placeholders of a text in the error catalogue. */
export type Params = { readonly [name: string]: string | number }

/** The rejection of a request that the key-value store did not answer in time. */
export const storeUnavailable = (): Rejection =>
  reject('store_unavailable', 'store', undefined, {
    cause: 'the key-value store of the control plane does not respond',
  })

/** Creates a rejection. Its `doc` is a path, to which the API adds its own address. */
export function reject(
  code: Code,
  field: string,
  value: Json | undefined,
  params: Params = {},
  received = describeReceived(field, boundedValue(value)),
): Rejection {
  const entry = entryOf(code)
  return {
    code,
    field,
    received,
    expected: fillIn(entry.expected, params),
    why: fillIn(entry.why, params),
    doc: `/docs/errors/${code}`,
  }
}
