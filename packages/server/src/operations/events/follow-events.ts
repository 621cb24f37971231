// Follows the events of a tenant from a cursor on. Each reader fetches events from the store at its own speed; the server
// keeps only the reader's position. Events removed before they were read are reported (docs/design/events.md#delivery).

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
  /**
   * Cursor of the last event read, whether or not the filter matched; undefined while lost events are not yet reported.
   */
  readonly reached: string | undefined
  /** Returns the next few events; `more` is true if another call can return further events at once. */
  take(): Promise<{ readonly parts: readonly FollowedPart[]; readonly more: boolean }>
  close(): void
}

export interface FollowOptions {
  /** Position after which to follow events; undefined to follow only new events. */
  readonly from: EventPosition | undefined
  readonly filter: EventFilter
  /** Called when new events have arrived; `take` returns them. */
  onArrival(): void
}

/** The most events per call of `take`; the number is small, because one event may have 256 KiB. */
const AT_ONCE = 10
/** Time in which a burst of new events is collected into one call of `onArrival`. */
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

/** The events after a position. The newest keys are last, so only the end of the list of keys is scanned. */
function eventsAfter(store: Store, tenant: TenantId, position: EventPosition): PlacedEvent[] {
  const keys = store.keysOf(events, tenant)
  let from = keys.length
  while (from > 0 && (keys[from - 1]?.createRevision ?? 0) >= position.revision) from -= 1
  return placeEvents(keys.slice(from)).filter((each) => isAfter(each, position))
}

interface Arrivals {
  /** True if an event was removed while the reader had unread events; the removed event may be an unread one. */
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
