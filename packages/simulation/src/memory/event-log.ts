// What happened, revision by revision, as far back as the last compaction: what watches read from.

import type { WatchEvent } from '@holdfast/server/ports/key-value'

export interface EventLog {
  /** The newest one. */
  readonly revision: number
  /** History before this revision is gone; below every revision while nothing was compacted. */
  readonly compacted: number
  /** One transaction's changes become the next revision. */
  append(events: readonly WatchEvent[]): void
  /** From one revision up to another, both included. */
  read(from: number, upTo: number): Iterable<readonly WatchEvent[]>
  /** `forget` shortens one key's history and says which of its events are left. */
  compact(revision: number, forget: (key: string) => (event: WatchEvent) => boolean): void
  /** Told before history is cut off, and after each revision. */
  subscribe(listener: LogListener): () => void
}

export interface LogListener {
  onAppend(): void
  beforeCompaction(): void
}

/** An empty store has a revision already. */
const FIRST_REVISION = 1

export function createEventLog(): EventLog {
  let revisions: (readonly WatchEvent[])[] = []
  /** Of the first entry. */
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

/** Only a key that changed since the last compaction has anything to forget. */
function forgetKeys(
  revisions: readonly (readonly WatchEvent[])[],
  forget: (key: string) => (event: WatchEvent) => boolean,
): (event: WatchEvent) => boolean {
  const tests = new Map<string, (event: WatchEvent) => boolean>()
  for (const events of revisions)
    for (const { kv } of events) if (!tests.has(kv.key)) tests.set(kv.key, forget(kv.key))
  return (event) => tests.get(event.kv.key)?.(event) ?? false
}
