// Follows the events of a tenant from a cursor on. Readers fetch events from the store at their own speed; for a slow reader
// only its position is kept. Events that retention removed in between are reported (docs/design/events.md#delivery).

import type { ListedEvent, TenantId } from '@holdfast/contract'
import type { Change } from '../../store/cache/record-index.ts'
import { events } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import {
  type EventFilter,
  type EventPosition,
  isAfter,
  listedEvent,
  matchesFilter,
  type PlacedEvent,
  placeEvents,
  type Truncated,
  truncationAt,
} from './event-cursor.ts'

export type FollowedPart =
  | { readonly kind: 'event'; readonly event: ListedEvent }
  | { readonly kind: 'truncated'; readonly truncated: Truncated }

export interface EventFollower {
  /** The cursor of the last event that was read, shown or not; undefined while a gap is not reported yet. */
  readonly reached: string | undefined
  /** The next few events; `more` if the next call can return others at once. */
  take(): Promise<{ readonly parts: readonly FollowedPart[]; readonly more: boolean }>
  close(): void
}

export interface FollowOptions {
  /** Undefined to follow only new events. */
  readonly from: EventPosition | undefined
  readonly filter: EventFilter
  /** Called after new events arrived; `take` returns them. */
  onArrival(): void
}

/** Few, because one event may have 256 KiB. */
const AT_ONCE = 10
/** Collects a burst of events into one call. */
const GATHER_MS = 20

export async function followEvents(
  store: Store,
  tenant: TenantId,
  { from, filter, onArrival }: FollowOptions,
): Promise<EventFollower> {
  await store.fresh()
  const kept = placeEvents(store.keysOf(events, tenant))
  const lost = from && truncationAt(from, kept[0], store.revision)
  const beyond = from !== undefined && from.revision > store.revision
  let position: EventPosition = from === undefined || beyond ? (kept.at(-1) ?? ORIGIN) : from
  let pending: Truncated[] = lost === undefined ? [] : [lost]
  const arrivals = watchArrivals(store, tenant, onArrival)

  const next = (): PlacedEvent[] => {
    const unread = eventsAfter(store, tenant, position)
    if (arrivals.removedUnread) {
      const gap = truncationAt(position, placeEvents(store.keysOf(events, tenant))[0], store.revision)
      if (gap !== undefined) pending.push(gap)
    }
    arrivals.caughtUp(unread.length === 0)
    return unread
  }
  return {
    get reached() {
      const hasGap = pending.length > 0 || position === ORIGIN
      return hasGap ? undefined : `${position.revision}-${position.ordinal}`
    },
    async take() {
      const unread = next()
      const chunk = unread.slice(0, AT_ONCE)
      const records = await store.read(
        events,
        chunk.map(({ key }) => key),
      )
      const gaps = pending.map((truncated): FollowedPart => ({ kind: 'truncated', truncated }))
      pending = []
      const parts = chunk.flatMap((placed, index): FollowedPart[] => {
        const record = records[index]
        const after = `${position.revision}-${position.ordinal}`
        position = placed
        if (record === undefined) return [{ kind: 'truncated', truncated: { after, oldest: placed.cursor } }]
        return matchesFilter(record, filter)
          ? [{ kind: 'event', event: listedEvent(record, placed.cursor) }]
          : []
      })
      return { parts: [...gaps, ...parts], more: unread.length > AT_ONCE }
    },
    close: arrivals.close,
  }
}

const ORIGIN: EventPosition = { revision: 0, ordinal: 0 }

/** The newest keys are last, so only the end of the list is scanned. */
function eventsAfter(store: Store, tenant: TenantId, position: EventPosition): PlacedEvent[] {
  const keys = store.keysOf(events, tenant)
  let from = keys.length
  while (from > 0 && (keys[from - 1]?.createRevision ?? 0) >= position.revision) from -= 1
  return placeEvents(keys.slice(from)).filter((each) => isAfter(each, position))
}

interface Arrivals {
  /** An event was removed while some were unread; it may have been one of those. */
  readonly removedUnread: boolean
  caughtUp(isDone: boolean): void
  close(): void
}

function watchArrivals(store: Store, tenant: TenantId, onArrival: () => void): Arrivals {
  let unread = true
  let removedUnread = false
  let timer: NodeJS.Timeout | undefined
  const notice = (changes: readonly Change[]): void => {
    const own = changes.filter(({ key }) => key.tenant === tenant && key.folder === events.folder)
    if (own.some(({ kind }) => kind === 'put')) {
      unread = true
      timer ??= setTimeout(() => {
        timer = undefined
        onArrival()
      }, GATHER_MS)
    }
    removedUnread ||= unread && own.some(({ kind }) => kind === 'delete')
  }
  const unsubscribe = store.subscribe(notice)
  return {
    get removedUnread() {
      return removedUnread
    },
    caughtUp(isDone) {
      unread = !isDone
      removedUnread = false
    },
    close() {
      unsubscribe()
      clearTimeout(timer)
    },
  }
}
