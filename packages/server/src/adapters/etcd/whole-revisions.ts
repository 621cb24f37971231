// From the messages of a watch stream to whole revisions: nothing twice, nothing skipped, no revision in two halves.
// etcd cuts a large message into fragments, and a cut may fall within a revision.

import type { WatchEvent } from '../../ports/key-value.ts'

export interface RevisionBatch {
  readonly events: readonly WatchEvent[]
  /** Complete with this batch. */
  readonly revision: number
}

export interface WholeRevisions {
  /** The last revision that was handed out, or that is known to be without events for us. */
  delivered(): number
  /** The events that are complete now; undefined when there are none. */
  accept(events: readonly WatchEvent[], moreFollow: boolean): RevisionBatch | undefined
  /** etcd says that everything up to `revision` has been sent. False when that is older than what we have. */
  advance(revision: number): boolean
  /** The stream broke: half a revision is worth nothing, the next stream brings it anew. */
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
