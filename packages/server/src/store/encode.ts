// Encodes and decodes every stored record. Encoding is by allow-list: a field that the shape does not name is a fault of
// the server and throws, so that nothing unexpected is stored (docs/design/admission.md#persist-guard).

import { decodeOpen, encodeShaped, findShapeFaults, type Json, type Rejection } from '@holdfast/contract'
import { checkPersistable, reject } from '@holdfast/core'
import { isTainted } from '../ports/taint.ts'
import { FORMS, newestForm } from './records/collection.ts'
import type { Collection } from './records.ts'

const SUSPECT = /"(?:values|generate)"/
/** The rejection of a record in which a secret value of the current request occurs, in any field. */
const VALUE_WOULD_PERSIST = reject('secret_material_would_persist', 'values', null, {}, '<redacted>')
const decoder = new TextDecoder('utf-8', { fatal: true })

export function encodeRecord<T>(collection: Collection<T>, record: T): Buffer {
  const [fault] = findShapeFaults(collection.shape, record)
  if (fault !== undefined)
    throw new UnstorableRecordError(`${collection.folder}: ${fault.kind} at ${fault.path}`)
  const text = encodeShaped(collection.shape, record)
  // Only records with a key `values` or `generate` are walked in search of secret values; the text search that finds such
  // records is cheaper than the walk.
  const [found] = SUSPECT.test(text) ? checkPersistable(record as Json) : []
  const material = found ?? (isTainted(text) ? VALUE_WOULD_PERSIST : undefined)
  if (material !== undefined)
    throw new UnstorableRecordError(`${collection.folder}: ${material.code}`, material)
  return Buffer.from(text)
}

/** `reads` is the highest form that the process reads. A record of a newer form throws, as does an invalid record. */
export function decodeRecord<T>(collection: Collection<T>, bytes: Uint8Array, reads = newestForm(FORMS)): T {
  const value: unknown = JSON.parse(decoder.decode(bytes))
  const form = formOf(value)
  if (form > reads) throw new TypeError(`form ${form} of a record; this server reads up to form ${reads}`)
  return decodeOpen(collection.shape, value)
}

/** The form of a stored record, which is its member `v`. */
export const formOf = (record: unknown): number => Number(Object(record).v)

/** The server tried to store an invalid record. The message names the field, never the value. */
export class UnstorableRecordError extends Error {
  override readonly name = 'UnstorableRecordError'
  /** The rejection code and texts if secret values would have been stored; undefined for other faults. */
  readonly material: Rejection | undefined

  constructor(message: string, material?: Rejection) {
    super(message)
    this.material = material
  }
}
