// The records as this process knows them: listed once at one revision, then kept up by one watch over everything. Reads
// are served from here (DESIGN 5); a transaction's compares make a stale read safe. When the history is compacted away
// while we were cut off, everything is listed anew and the difference is told to the listeners.

import type { KeyValueEngine, Watch, WatchEvent } from '../../ports/key-value.ts'
import type { Keyspace } from '../keys.ts'
import { listPages } from './list-pages.ts'
import {
  type Change,
  createRecordIndex,
  difference,
  type OnUnreadable,
  type RecordIndex,
} from './record-index.ts'
import { createRevisionGate } from './revision-gate.ts'

const RELIST_RETRY_MS = 250

export interface Cache {
  /** The newest revision whose events are all applied. */
  readonly revision: number
  /** The index as of now; after a relist it is another one, so do not keep it. */
  readonly index: RecordIndex
  waitFor(revision: number, deadlineMs: number): Promise<void>
  /** Told after the changes are applied. Handlers note what to do and act later. */
  subscribe(listener: Listener): () => void
  close(): void
}

export async function startCache(
  engine: KeyValueEngine,
  keyspace: Keyspace,
  onUnreadable: OnUnreadable,
): Promise<Cache> {
  const gate = createRevisionGate()
  const listeners = new Set<Listener>()
  let index = createRecordIndex(keyspace, onUnreadable)
  let watch: Watch | undefined
  let closed = false

  const apply = (events: readonly WatchEvent[], reached: number): void => {
    const changes = events.flatMap(({ kind, kv }) => {
      const key = kind === 'put' ? index.put(kv) : index.delete(kv.key)
      return key === undefined ? [] : [{ kind, key }]
    })
    gate.advance(reached)
    tell(listeners, changes)
  }
  const load = async (): Promise<void> => {
    const listed = await listEverything(engine, keyspace, onUnreadable)
    if (closed) return
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
    tell(listeners, difference(before, index))
  }
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

/** A listener that throws is a fault of ours and ends the process, but not before the others have been told. */
function tell(listeners: ReadonlySet<Listener>, changes: readonly Change[]): void {
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

/** In the order of creation, which is the order in which the watch goes on; page by page, so values do not pile up. */
async function listEverything(
  engine: KeyValueEngine,
  keyspace: Keyspace,
  onUnreadable: OnUnreadable,
): Promise<{ index: RecordIndex; revision: number }> {
  const index = createRecordIndex(keyspace, onUnreadable)
  let revision = 0
  for await (const page of listPages(engine, keyspace.everything())) {
    for (const kv of page.kvs) index.put(kv)
    revision = page.revision
  }
  index.sortByCreation()
  return { index, revision }
}
