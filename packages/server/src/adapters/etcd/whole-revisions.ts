// Turns the messages of watch streams into complete revisions, without duplicates or gaps. etcd splits a large message
// into fragments, and a split may fall within a revision.

import type { WatchEvent } from '../../ports/key-value.ts'

export interface RevisionBatch {
  readonly events: readonly WatchEvent[]
  /** The last revision whose events are completely delivered once this batch is delivered. */
  readonly revision: number
}

export interface WholeRevisions {
  /** Returns the last revision that was delivered or is known to have no events in the watched range. */
  delivered(): number
  /** Adds events and returns the events of all revisions that are now complete, or undefined if no revision is. */
  accept(events: readonly WatchEvent[], moreFollow: boolean): RevisionBatch | undefined
  /** Records that etcd has sent all events up to `revision`. Returns false if a later revision was already delivered. */
  advance(revision: number): boolean
  /** Drops an incomplete revision after the stream broke, because the next stream sends that revision again. */
  dropPartial(): void
}

export function makeWholeRevisions(deliveredAtStart: number): WholeRevisions {
  let delivered = deliveredAtStart
  let held: WatchEvent[] = []

  function accept(events: readonly WatchEvent[], moreFollow: boolean): RevisionBatch | undefined {
    const fresh = events.filter((event) => event.kv.modRevision > delivered)
    const known = held.length === 0 ? fresh : held.concat(fresh)
    const complete = moreFollow ? known.slice(0, startOfLastRevision(known)) : known
    held = moreFollow ? known.slice(complete.length) : []
    const last = complete.at(-1)
    if (!last) return undefined
    delivered = last.kv.modRevision
    return { events: complete, revision: delivered }
  }

  return {
    delivered: () => delivered,
    accept,
    advance(revision) {
      if (revision < delivered || held.length > 0) return false
      delivered = revision
      return true
    },
    dropPartial() {
      held = []
    },
  }
}

function startOfLastRevision(events: readonly WatchEvent[]): number {
  const last = events.at(-1)?.kv.modRevision
  let start = events.length
  while (start > 0 && events[start - 1]?.kv.modRevision === last) start -= 1
  return start
}
