// The history of changes by revision, back to the last compaction: the source of watches.

import type { WatchEvent } from '@holdfast/server/ports/key-value'

export interface EventLog {
  /** The newest revision. */
  readonly revision: number
  /** History before this revision is compacted; below every revision if nothing was compacted. */
  readonly compacted: number
  /** Stores the changes of one transaction as the next revision. */
  append(events: readonly WatchEvent[]): void
  /** Events from one revision to another, both included. */
  read(from: number, upTo: number): Iterable<readonly WatchEvent[]>
  /** `forget` shortens the history of one key and returns which of its events remain. */
  compact(revision: number, forget: (key: string) => (event: WatchEvent) => boolean): void
  /** Called before history is compacted, and after each revision. */
  subscribe(listener: LogListener): () => void
}

export interface LogListener {
  onAppend(): void
  beforeCompaction(): void
}

/** An empty store already has a revision. */
const FIRST_REVISION = 1

export function createEventLog(): EventLog {
  let revisions: (readonly WatchEvent[])[] = []
  /** Revision of the first entry. */
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

/** Only keys that changed since the last compaction have anything to forget. */
function forgetKeys(
  revisions: readonly (readonly WatchEvent[])[],
  forget: (key: string) => (event: WatchEvent) => boolean,
): (event: WatchEvent) => boolean {
  const tests = new Map<string, (event: WatchEvent) => boolean>()
  for (const events of revisions)
    for (const { kv } of events) if (!tests.has(kv.key)) tests.set(kv.key, forget(kv.key))
  return (event) => tests.get(event.kv.key)?.(event) ?? false
}
