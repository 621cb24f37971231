// Reads the newest events that match a filter, however old. One response covers a limited number of events and returns a
// cursor for older events, so several requests may be needed.

import type { EventPage } from '@holdfast/contract'
import type { EventFilter } from './follow-events.ts'
import type { Result } from './result.ts'

export interface EventQuery extends EventFilter {
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly limit?: number
  /** A time, or a duration before now. Only events between the two are returned. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export type PastQuery = Omit<EventQuery, 'after' | 'before'> & { readonly limit: number }

/** Returns events oldest first. `nextCursor` comes from the first response, so that a later watch misses no event. */
export async function readPastEvents(
  readPage: (query: EventQuery) => Promise<Result<EventPage>>,
  { limit, ...filter }: PastQuery,
): Promise<Result<EventPage>> {
  let page = await readPage({ ...filter, limit })
  while (page.ok && page.value.earlierCursor !== undefined && countOf(page.value) < limit) {
    const { earlierCursor: before, ...newer } = page.value
    const older = await readPage({ ...filter, limit: limit - countOf(newer), before })
    if (!older.ok) return older
    const { nextCursor } = newer
    page = { ok: true, value: { ...older.value, items: [...older.value.items, ...newer.items], nextCursor } }
  }
  return page
}

/** The number of events on a page: the sum of `count`, because one item may represent several equal events. */
const countOf = ({ items }: Pick<EventPage, 'items'>): number =>
  items.reduce((sum, { count }) => sum + count, 0)
