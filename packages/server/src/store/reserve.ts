// A reserve in etcd: keys without meaning. When etcd is full it refuses every put, also those of a deletion, but no
// deletion of keys. Releasing the reserve then makes the room that deletions of records need. See docs/design/upkeep.md

import type { KeyValueEngine } from '../ports/key-value.ts'
import type { Keyspace } from './keys.ts'

export interface StoreReserve {
  /** Writes what is missing of the reserve. */
  refill(): Promise<void>
  /** Deletes the reserve. Returns false if there was none. */
  release(): Promise<boolean>
}

const PIECE_BYTES = 256 * 1024
/**
 * etcd notices the size of its file when it commits a batch, ten times a second, so the file may exceed the quota by what
 * was written in that time. The reserve must be more than that.
 */
const SHARE = 1 / 8
const MOST_BYTES = 16 * 1024 ** 2

export function createReserve(
  engine: Pick<KeyValueEngine, 'range' | 'transact'>,
  keyspace: Pick<Keyspace, 'reserve' | 'reserveKey'>,
  quotaBytes: number,
): StoreReserve {
  const bytes = Math.min(MOST_BYTES, Math.floor(quotaBytes * SHARE))
  const pieces = Math.ceil(bytes / PIECE_BYTES)
  let isComplete = false
  return {
    async refill() {
      if (isComplete) return
      const { kvs } = await engine.range({ ...keyspace.reserve(), keysOnly: true })
      const present = new Set(kvs.map(({ key }) => key))
      const value = new Uint8Array(Math.floor(bytes / pieces))
      for (let piece = 0; piece < pieces; piece += 1) {
        const key = keyspace.reserveKey(piece)
        if (present.has(key)) continue
        await engine.transact({ compares: [], success: [{ kind: 'put', key, value }], failure: [] })
      }
      isComplete = true
    },
    async release() {
      isComplete = false
      const all = { kind: 'delete', ...keyspace.reserve() } as const
      const { results } = await engine.transact({ compares: [], success: [all], failure: [] })
      return results.some((result) => result.kind === 'delete' && result.deleted > 0)
    },
  }
}
