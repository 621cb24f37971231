// The history of changes by revision since the last compaction. Watches read from this history.

import type { WatchEvent } from '@holdfast/server/ports/key-value'

export interface EventLog {
  /** The newest revision in the log. */
  readonly revision: number
  /** Revision of the last compaction: older history is gone. Lower than every revision if nothing was compacted. */
  readonly compacted: number
  /** Stores the changes of one transaction as the next revision. */
  append(events: readonly WatchEvent[]): void
  /** Returns the events from one revision to another, both included. */
  read(from: number, upTo: number): Iterable<readonly WatchEvent[]>
  /** Compacts the log. `forget` shortens one key's history and returns a function that is true for events to keep. */
  compact(revision: number, forget: (key: string) => (event: WatchEvent) => boolean): void
  /** Adds a listener, which is called before history is compacted and after each revision. */
  subscribe(listener: LogListener): () => void
}

export interface LogListener {
  onAppend(): void
  beforeCompaction(): void
}

/** Revision of an empty store. */
const FIRST_REVISION = 1

export function createEventLog(): EventLog {
  let revisions: (readonly WatchEvent[])[] = []
  /** Revision of the first entry in the log. */
  let base = FIRST_REVISION + 1
  let compacted = -1
  const listeners = new Set<LogListener>()
  const reached = () => base + revisions.length - 1

  return {
    get revision() {
      return reached()
    },
    get compacted() {
      return compacted
    },
    append(events) {
      revisions.push(events)
      for (const listener of listeners) listener.onAppend()
    },
    *read(from, upTo) {
      for (let index = Math.max(0, from - base); index <= upTo - base; index += 1)
        yield revisions[index] ?? []
    },
    compact(revision, forget) {
      for (const listener of listeners) listener.beforeCompaction()
      compacted = revision
      if (revision < base) return
      const last = revision - base
      const kept = forgetKeys(revisions.slice(0, last + 1), forget)
      revisions = [(revisions[last] ?? []).filter(kept), ...revisions.slice(last + 1)]
      base = revision
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Compacts only keys with events since the last compaction, because no other key has old versions. */
function forgetKeys(
  revisions: readonly (readonly WatchEvent[])[],
  forget: (key: string) => (event: WatchEvent) => boolean,
): (event: WatchEvent) => boolean {
  const tests = new Map<string, (event: WatchEvent) => boolean>()
  for (const events of revisions)
    for (const { kv } of events) if (!tests.has(kv.key)) tests.set(kv.key, forget(kv.key))
  return (event) => tests.get(event.kv.key)?.(event) ?? false
}
