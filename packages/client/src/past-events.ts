// The newest events that match, however far back they are: one answer of the server looks at so many and names where it
// stopped. DECISIONS 1.

import type { EventPage } from '@holdfast/contract'
import type { EventFilter } from './follow-events.ts'
import type { Result } from './result.ts'

export interface EventQuery extends EventFilter {
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly limit?: number
}

export type PastQuery = EventFilter & { readonly limit: number }

/** Oldest first. `nextCursor` is that of the first answer: what came since follows it. */
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

/** A limit counts each, however many were folded into one. */
const countOf = ({ items }: Pick<EventPage, 'items'>): number =>
  items.reduce((sum, { count }) => sum + count, 0)
