// Lists the events of a tenant.

import {
  canonicalJson,
  defined,
  type Event,
  type EventPage,
  type ListedEvent,
  type Rejection,
  type TenantId,
} from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { events } from '../../store/records.ts'
import { done, type Outcome, refused } from '../caller.ts'
import type { HistoryReads } from './charged-reads.ts'
import {
  type EventFilter,
  isAfter,
  listedEvent,
  matchesFilter,
  type PlacedEvent,
  placeEvents,
  readEventCursor,
  truncationAt,
} from './event-cursor.ts'
import { scanEvents } from './scan-events.ts'
import { isWithin, type TimeRange, withinTimes } from './time-range.ts'

export interface EventQuery extends EventFilter {
  readonly limit: number
  readonly after: string | undefined
  readonly before: string | undefined
  readonly times?: TimeRange
}

/** Lists the events after `after`, the events before `before`, or the newest events; always oldest first. */
export async function listEvents(
  store: HistoryReads,
  tenant: TenantId,
  query: EventQuery,
): Promise<Outcome<EventPage>> {
  const { after, before } = query
  if (after !== undefined && before !== undefined) return refused(bothWays(before))
  const from = after === undefined ? undefined : readEventCursor(after)
  if (after !== undefined && from === undefined) return refused(badCursor('after', after))
  const until = before === undefined ? undefined : readEventCursor(before)
  if (before !== undefined && until === undefined) return refused(badCursor('before', before))
  await store.fresh()
  const placed = placeEvents(store.keysOf(events, tenant))
  const between = await withinTimes(store, placed, query.times ?? {})
  const past = until === undefined ? between : between.filter((each) => isAfter(until, each))
  const page =
    from === undefined
      ? await listBackward(store, past, query)
      : await listForward(
          store,
          between.filter((each) => isAfter(each, from)),
          query,
        )
  const truncated = from && truncationAt(from, placed[0], store.revision)
  return done({ ...page, ...defined({ truncated }) })
}

async function listForward(
  store: HistoryReads,
  positions: readonly PlacedEvent[],
  query: EventQuery,
): Promise<EventPage> {
  const { found, last } = await findMatching(store, positions, query)
  return { items: foldRepeats(found), nextCursor: last?.cursor ?? query.after ?? null }
}

/** Lists the newest matching events. `earlierCursor` is the position before which events were not scanned. */
async function listBackward(
  store: HistoryReads,
  past: readonly PlacedEvent[],
  query: EventQuery,
): Promise<EventPage> {
  const { found, last, complete } = await findMatching(store, past.toReversed(), query)
  return {
    items: foldRepeats(found.toReversed()),
    nextCursor: past.at(-1)?.cursor ?? null,
    ...defined({ earlierCursor: complete ? undefined : last?.cursor }),
  }
}

async function findMatching(store: HistoryReads, positions: readonly PlacedEvent[], query: EventQuery) {
  const found: ListedEvent[] = []
  const scanned = await scanEvents(store, positions, (event, { cursor }) => {
    if (matchesFilter(event, query) && isWithin(event.time, query.times ?? {}))
      found.push(listedEvent(event, cursor))
    return found.length < query.limit
  })
  return { found, ...scanned }
}

export function badCursor(parameter: 'after' | 'before', given: string): Rejection {
  return reject('query_parameter_invalid', parameter, given, {
    accepted: 'the cursor of an event, for example 1042-0',
  })
}

const bothWays = (before: string): Rejection =>
  reject('query_parameter_invalid', 'before', before, { accepted: 'one of after and before' })

/** Folds consecutive identical events about the same subject into one item with a count and the time of the first. */
export function foldRepeats(items: readonly ListedEvent[]): ListedEvent[] {
  const folded: ListedEvent[] = []
  for (const item of items) {
    const before = folded.at(-1)
    if (before === undefined || !isRepeat(before, item)) folded.push(item)
    else folded[folded.length - 1] = { ...item, count: before.count + 1, firstSeen: before.firstSeen }
  }
  return folded
}

function isRepeat(left: Event, right: Event): boolean {
  return (
    left.type === right.type &&
    left.subject.uid === right.subject.uid &&
    left.reason === right.reason &&
    left.message === right.message &&
    // The data is compared too, because events with the same text may be about different replicas.
    canonicalJson(left.data) === canonicalJson(right.data)
  )
}
