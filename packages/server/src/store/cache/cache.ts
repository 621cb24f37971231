// The cache of all records: listed once at one revision, then updated by one watch (docs/design/store.md#cache). Stale
// reads are safe, because transactions compare the records they read. If etcd compacts the history while the watch is
// disconnected, all records are listed again, and listeners receive the difference.

import type { KeyValueEngine, Watch, WatchEvent } from '../../ports/key-value.ts'
import type { Keyspace } from '../keys.ts'
import { listPages } from './list-pages.ts'
import {
  type Change,
  createRecordIndex,
  type Decoding,
  difference,
  type RecordIndex,
} from './record-index.ts'
import { createRevisionGate } from './revision-gate.ts'

const RELIST_RETRY_MS = 250

export interface Cache {
  /** The etcd revision up to which the cache contains all changes. */
  readonly revision: number
  /** The current index of records. A relist replaces the index object, so callers must not keep a reference to it. */
  readonly index: RecordIndex
  waitFor(revision: number, deadlineMs: number): Promise<void>
  /** Calls the listener after each change of the cache. A listener must return quickly and do its work later. */
  subscribe(listener: Listener): () => void
  close(): void
}

/** `accepts` is asked before a listing replaces what the cache has; the first one replaces nothing. */
export async function startCache(
  engine: KeyValueEngine,
  keyspace: Keyspace,
  decoding: Decoding,
  accepts: (before: RecordIndex, listed: RecordIndex) => boolean = () => true,
): Promise<Cache> {
  const gate = createRevisionGate()
  const listeners = new Set<Listener>()
  let index = createRecordIndex(keyspace, decoding)
  let watch: Watch | undefined
  let closed = false

  const apply = (events: readonly WatchEvent[], reached: number): void => {
    const changes = events.flatMap(({ kind, kv }) => {
      const key = kind === 'put' ? index.put(kv) : index.delete(kv.key)
      return key === undefined ? [] : [{ kind, key }]
    })
    gate.advance(reached)
    notify(listeners, changes)
  }
  const load = async (): Promise<void> => {
    const listed = await listEverything(engine, keyspace, decoding)
    // A listing that is not accepted is of another history: the cache stays as it was.
    if (closed || !accepts(index, listed.index)) return
    const before = index
    index = listed.index
    watch = engine.watch({
      ...keyspace.everything(),
      startRevision: listed.revision + 1,
      onEvents: apply,
      onProgress: gate.advance,
      onCompacted: relist,
    })
    gate.advance(listed.revision)
    notify(listeners, difference(before, index))
  }
  // Lists all records again, with retries. Until a listing succeeds, the cache is outdated and fresh reads fail.
  const relist = (): void => {
    if (!closed) load().catch(() => setTimeout(relist, RELIST_RETRY_MS))
  }

  await load()
  return {
    get revision() {
      return gate.revision
    },
    get index() {
      return index
    },
    waitFor: (revision, deadlineMs) => gate.waitFor(revision, deadlineMs, () => watch?.requestProgress()),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      closed = true
      watch?.close()
    },
  }
}

type Listener = (changes: readonly Change[]) => void

/**
 * Calls all listeners. An exception in a listener ends the process, but only after the other listeners were called.
 */
function notify(listeners: ReadonlySet<Listener>, changes: readonly Change[]): void {
  if (changes.length === 0) return
  for (const listener of listeners) {
    try {
      listener(changes)
    } catch (error) {
      setImmediate(() => {
        throw error
      })
    }
  }
}

/** Lists all records in the order of creation, the order in which the watch adds later records. Reads page by page. */
async function listEverything(
  engine: KeyValueEngine,
  keyspace: Keyspace,
  decoding: Decoding,
): Promise<{ index: RecordIndex; revision: number }> {
  const index = createRecordIndex(keyspace, decoding)
  let revision = 0
  for await (const page of listPages(engine, keyspace.everything())) {
    for (const kv of page.kvs) index.put(kv)
    revision = page.revision
  }
  index.sortByCreation()
  return { index, revision }
}
