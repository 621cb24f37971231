// Where an event stands among those of its tenant: its create revision and its place among the events of that revision,
// because a batch shares one. DECISIONS 7, SAFETY 4g.

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

/** Keys of whole revisions, in the order of their cursors. */
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

/** Events behind a cursor that are kept no more: told, never skipped in silence. */
export interface Truncated {
  readonly after: string
  /** The first that is still there; null where there is none. */
  readonly oldest: string | null
}

/**
 * Retention removes the oldest first, so the event of a cursor is missing only where those behind it may be missing too.
 * Revision 0 asks for all that is kept. A revision that is not reached yet is of another store than this one.
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
