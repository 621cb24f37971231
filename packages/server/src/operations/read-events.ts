// Reading what happened: events and the audit trail of a tenant. DECISIONS 6 and 7, SAFETY 4g.

import {
  type AuditEntry,
  canonicalJson,
  type Event,
  type ListedEvent,
  type Rejection,
  type TenantId,
} from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { audit, events } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { done, type Outcome, refused } from './caller.ts'
import {
  type EventFilter,
  isAfter,
  listedEvent,
  matchesFilter,
  type PlacedEvent,
  placeEvents,
  readEventCursor,
  type Truncated,
  truncationAt,
} from './event-cursor.ts'
import { type Page, pageOf, readCursor } from './page.ts'

export interface EventQuery extends EventFilter {
  readonly limit: number
  readonly after: string | undefined
}

export type EventPage = Page<ListedEvent> & { readonly truncated?: Truncated }

/** Read at once, and looked through by one request at the most; `nextCursor` goes on from there. */
const CHUNK = 100
const MAX_SCAN = 2000

/** Without `after` the newest ones, oldest of them first; with it those that follow. */
export async function listEvents(
  store: Store,
  tenant: TenantId,
  query: EventQuery,
): Promise<Outcome<EventPage>> {
  const from = query.after === undefined ? undefined : readEventCursor(query.after)
  if (query.after !== undefined && from === undefined) return refused(badCursor(query.after))
  await store.fresh()
  const placed = placeEvents(store.keysOf(events, tenant))
  // Backwards from the newest, or forwards from the cursor.
  const way = from === undefined ? placed.toReversed() : placed.filter((each) => isAfter(each, from))
  const { found, scanned } = await findMatching(store, way, query)
  const items = from === undefined ? found.toReversed() : found
  const reached = from === undefined ? placed.at(-1) : found.length === query.limit ? found.at(-1) : scanned
  const truncated = from && truncationAt(from, placed[0], store.revision)
  return done({
    items: foldRepeats(items),
    nextCursor: reached?.cursor ?? query.after ?? null,
    ...(truncated === undefined ? {} : { truncated }),
  })
}

async function findMatching(store: Store, way: readonly PlacedEvent[], query: EventQuery) {
  const found: ListedEvent[] = []
  let scanned: PlacedEvent | undefined
  for (let start = 0; start < Math.min(way.length, MAX_SCAN) && found.length < query.limit; start += CHUNK) {
    const chunk = way.slice(start, start + CHUNK)
    const records = await store.read(
      events,
      chunk.map(({ key }) => key),
    )
    chunk.forEach((each, index) => {
      const event = records[index]
      if (event !== undefined && matchesFilter(event, query) && found.length < query.limit)
        found.push(listedEvent(event, each.cursor))
    })
    scanned = chunk.at(-1)
  }
  return { found, scanned }
}

export function badCursor(after: string): Rejection {
  return reject('query_parameter_invalid', 'after', after, {
    accepted: 'the cursor of an event, for example 1042-0',
  })
}

/** Neighbours that say the very same of the same thing are shown once, with how often and since when. */
export function foldRepeats(items: readonly ListedEvent[]): ListedEvent[] {
  const folded: ListedEvent[] = []
  for (const item of items) {
    const before = folded.at(-1)
    if (before === undefined || !sameStory(before, item)) folded.push(item)
    else folded[folded.length - 1] = { ...item, count: before.count + 1, firstSeen: before.firstSeen }
  }
  return folded
}

function sameStory(left: Event, right: Event): boolean {
  return (
    left.type === right.type &&
    left.subject.uid === right.subject.uid &&
    left.reason === right.reason &&
    left.message === right.message &&
    // Two steps may read alike and be of different replicas.
    canonicalJson(left.data) === canonicalJson(right.data)
  )
}

export async function listAudit(
  store: Store,
  tenant: TenantId,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): Promise<Outcome<Page<AuditEntry>>> {
  const from = readCursor(cursor)
  if (!from.ok) return refused(from.rejection)
  await store.fresh()
  const sorted = [...store.keysOf(audit, tenant)].sort((left, right) => (left.id < right.id ? -1 : 1))
  const { items, nextCursor } = pageOf(sorted, ({ id }) => id, limit, from.after)
  const entries = await store.read(
    audit,
    items.map(({ key }) => key),
  )
  return done({
    items: entries.flatMap((entry) => (entry === undefined ? [] : [auditView(entry)])),
    nextCursor,
  })
}

function auditView({ v: _version, ...entry }: AuditEntry & { v: number }): AuditEntry {
  return entry
}
