// The epoch of the store: a random value that every server remembers when it starts, and that an operator replaces after
// etcd was restored from a backup (docs/design/restored-stores.md#servers). Every transaction compares its record.

import type { Infer } from '@holdfast/contract'
import type { IdSource } from '../ports/clock.ts'
import type { KeyValue } from '../ports/key-value.ts'
import type { Cache } from './cache/cache.ts'
import { decodeRecord } from './encode.ts'
import { EPOCH_ID, epochs } from './records.ts'
import { RestoredStoreError } from './restored.ts'
import { globally } from './transaction.ts'

export type StoreEpoch = Infer<typeof epochs.shape>

export const epochAddress = globally(epochs, EPOCH_ID)

const EPOCH_BYTES = 16

export const randomEpoch = (ids: Pick<IdSource, 'bytes'>): string =>
  Buffer.from(ids.bytes(EPOCH_BYTES)).toString('base64url')

export interface EpochGuard {
  /** Checks the record of the epoch as a linearizable read has found it. */
  check(found: KeyValue | undefined): void
}

/**
 * Compares the epoch of the store with the first one that this process has seen. A store of an older version has none, so
 * the first epoch that appears is no fault.
 */
export function guardEpoch(cache: Cache, fail: (error: RestoredStoreError) => void): EpochGuard {
  const read = () => cache.index.get(epochs, undefined, EPOCH_ID)
  let ours = read()?.record.epoch
  const compare = (found: StoreEpoch | undefined): void => {
    ours ??= found?.epoch
    if (found?.epoch !== ours) fail(otherEpoch(ours ?? '', found))
  }
  cache.subscribe((changes) => {
    if (changes.some(({ key }) => key.folder === epochs.folder)) compare(read()?.record)
  })
  return {
    check(found) {
      if (ours === undefined || (found !== undefined && found.modRevision === read()?.modRevision)) return
      compare(found === undefined ? undefined : decodeRecord(epochs, found.value))
    },
  }
}

function otherEpoch(ours: string, found: StoreEpoch | undefined): RestoredStoreError {
  if (found === undefined) return new RestoredStoreError(`the store has lost its epoch, which was ${ours}`)
  const what = `the store has epoch ${found.epoch}, and this server started with ${ours}`
  return found.previous.includes(ours)
    ? new RestoredStoreError(`${what}; an operator has declared it restored`, 'Start this server again.')
    : new RestoredStoreError(what)
}
