// The position of an event among the events of a tenant: the revision of the transaction that created it, and its ordinal
// among the events of that transaction (docs/design/events.md#events).

import type { Event, ListedEvent } from '@holdfast/contract'
import type { IndexedKey } from '../../store/cache/record-index.ts'

export interface EventPosition {
  readonly revision: number
  readonly ordinal: number
}

export interface PlacedEvent extends EventPosition {
  readonly cursor: string
  readonly key: string
}

const CURSOR = /^(\d{1,15})-(\d{1,6})$/

export function readEventCursor(text: string): EventPosition | undefined {
  const found = CURSOR.exec(text)
  return found === null ? undefined : { revision: Number(found[1]), ordinal: Number(found[2]) }
}

/** Sorts event keys by cursor. All keys of a revision must be passed, because ordinals are counted within a revision. */
export function placeEvents(keys: readonly IndexedKey[]): PlacedEvent[] {
  const sorted = [...keys].sort(
    (left, right) => left.createRevision - right.createRevision || (left.key < right.key ? -1 : 1),
  )
  let ordinal = 0
  return sorted.map(({ key, createRevision }, index) => {
    ordinal = sorted[index - 1]?.createRevision === createRevision ? ordinal + 1 : 0
    return { key, revision: createRevision, ordinal, cursor: `${createRevision}-${ordinal}` }
  })
}

export function isAfter(placed: EventPosition, { revision, ordinal }: EventPosition): boolean {
  return placed.revision > revision || (placed.revision === revision && placed.ordinal > ordinal)
}

/** Reports that retention removed events after a cursor, before the client read them. */
export interface Truncated {
  readonly after: string
  /** Cursor of the oldest event that is kept; null if no event is kept. */
  readonly oldest: string | null
}

/**
 * Reports whether events after a cursor may be missing. Retention removes the oldest events first, so if the event of the
 * cursor is missing, later ones may be missing too. Revision 0 requests all events that are kept. A cursor with a future
 * revision belongs to another store.
 */
export function truncationAt(
  from: EventPosition,
  oldest: EventPosition | undefined,
  reached: number,
): Truncated | undefined {
  const isKept = oldest !== undefined && oldest.revision <= from.revision && from.revision <= reached
  if (from.revision === 0 || isKept) return undefined
  const after = `${from.revision}-${from.ordinal}`
  return { after, oldest: oldest === undefined ? null : `${oldest.revision}-${oldest.ordinal}` }
}

export interface EventFilter {
  readonly type: string | undefined
  readonly subject: string | undefined
  readonly severity: string | undefined
}

export function matchesFilter(event: Event, { type, subject, severity }: EventFilter): boolean {
  if (type !== undefined && event.type !== type) return false
  if (severity !== undefined && event.severity !== severity) return false
  return subject === undefined || event.subject.name === subject || event.subject.uid === subject
}

export function listedEvent({ v: _version, ...event }: Event & { v: number }, cursor: string): ListedEvent {
  return { ...event, cursor, count: 1, firstSeen: event.time, lastSeen: event.time }
}
