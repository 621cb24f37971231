// The only way into the store and out of it. Encoding is by allow-list: a key that the shape does not name is our own
// fault and throws, so that nothing travels into etcd unseen (SAFETY 4f).

import { decode, findShapeFaults, type Json, type Rejection } from '@holdfast/contract'
import { checkPersistable, reject } from '@holdfast/core'
import { isTainted } from '../ports/taint.ts'
import type { Collection } from './records.ts'

const SUSPECT = /"(?:values|generate)"/
/** A value of the request is in a record under a name that no scan looks for. */
const VALUE_WOULD_PERSIST = reject('secret_material_would_persist', 'values', null, {}, '<redacted>')
const decoder = new TextDecoder('utf-8', { fatal: true })

export function encodeRecord<T>(collection: Collection<T>, record: T): Buffer {
  const [fault] = findShapeFaults(collection.shape, record)
  if (fault !== undefined)
    throw new UnstorableRecordError(`${collection.folder}: ${fault.kind} at ${fault.path}`)
  const text = JSON.stringify(record)
  // Most records cannot hold material, and their text says so more cheaply than a walk.
  const [held] = SUSPECT.test(text) ? checkPersistable(record as Json) : []
  const material = held ?? (isTainted(text) ? VALUE_WOULD_PERSIST : undefined)
  if (material !== undefined)
    throw new UnstorableRecordError(`${collection.folder}: ${material.code}`, material)
  return Buffer.from(text)
}

export function decodeRecord<T>(collection: Collection<T>, bytes: Uint8Array): T {
  return decode(collection.shape, JSON.parse(decoder.decode(bytes)))
}

/** Our own invariant broke: the record must not be stored. Says where, never what. */
export class UnstorableRecordError extends Error {
  override readonly name = 'UnstorableRecordError'
  /** Where it is secret material that would have been stored; otherwise a plain fault of ours. */
  readonly material: Rejection | undefined

  constructor(message: string, material?: Rejection) {
    super(message)
    this.material = material
  }
}
