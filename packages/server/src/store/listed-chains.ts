// Compares a new listing of all records with the cache before it. A restored etcd with a raised revision ends the watch, so
// that all records are listed again; without this check the server would tell agents that what the backup lacks is gone
// before its next heartbeat notices the restore (docs/design/restored-stores.md#servers).

import type { RecordIndex } from './cache/record-index.ts'
import { chains } from './records.ts'
import { RestoredStoreError } from './restored.ts'

/** Chains that are silent for 30 days are deleted, and so are the oldest of more than 1,000. */
const KEPT_MS = 29 * 24 * 3_600_000
const MOST_CHAINS = 1_000

/** The error if the listing lacks heartbeats that a server has written; undefined if it lacks none. */
export function findLostHeartbeats(before: RecordIndex, listed: RecordIndex): RestoredStoreError | undefined {
  const known = before.keysOf(chains, undefined).flatMap(({ id }) => {
    const record = before.get(chains, undefined, id)?.record
    return record === undefined ? [] : [{ id, count: record.count, atMs: Date.parse(record.at) }]
  })
  const newest = Math.max(...known.map(({ atMs }) => atMs))
  for (const { id, count, atMs } of known) {
    const found = listed.get(chains, undefined, id)?.record.count
    const mayBeDeleted = known.length >= MOST_CHAINS || newest - atMs > KEPT_MS
    if (found === undefined && mayBeDeleted) continue
    if ((found ?? 0) < count)
      return new RestoredStoreError(
        `the store has lost heartbeats of a server: the cache has ${count}, and the store has ${found ?? 'none'}`,
      )
  }
  return undefined
}
