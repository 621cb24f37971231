// The endpoints /api/v1/events, /api/v1/events/stream and /api/v1/audit: events and audit trail of a tenant.

import { auditEntryShape, eventPageShape, pageShape, string } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { done, type Outcome, refused } from '../../operations/caller.ts'
import { chargedReads } from '../../operations/events/charged-reads.ts'
import { readEventCursor } from '../../operations/events/event-cursor.ts'
import { followEvents } from '../../operations/events/follow-events.ts'
import { listAudit } from '../../operations/events/list-audit.ts'
import { badCursor, listEvents } from '../../operations/events/read-events.ts'
import { readTimeRange } from '../../operations/events/time-range.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../store/store.ts'
import { type ApiRequest, type Endpoint, endpoint, type StreamedResponse } from '../endpoint.ts'
import { EVENT_STREAM, type EventStream, openEventStream } from '../streams/event-stream.ts'

export function activityEndpoints(store: Store, clock: Clock): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/events', {
      operation: 'listEvents',
      action: 'events:read',
      summary:
        'List events: the newest, those after a cursor, or the newest before one, also between two times. A response examines at most 2,000 events; if older ones were not examined, pass `earlierCursor` as `before`. Events are kept for 30 days, at most 10,000; `truncated` is set if `after` is older',
      query: ['type', 'subject', 'severity', 'since', 'until', 'after', 'before', 'limit'],
      shape: eventPageShape,
      run: ({ caller, query, charge }) => {
        const { limit, after, before, type, subject, severity } = query
        const times = readTimeRange(query, clock.now())
        const reads = chargedReads(store, charge)
        return listEvents(reads, caller.tenant, { limit, after, before, type, subject, severity, times })
      },
    }),
    endpoint('GET', '/api/v1/events/stream', {
      operation: 'followEvents',
      action: 'events:read',
      summary:
        'Follow events as Server-Sent Events: id is the cursor, event the type, data the event; from now on, or after Last-Event-ID or `after`. The event `truncated` reports that some are no longer kept',
      query: ['type', 'subject', 'severity', 'after'],
      headers: ['Last-Event-ID'],
      streams: true,
      shape: string(),
      type: EVENT_STREAM,
      handle: (request) => follow(store, request),
    }),
    endpoint('GET', '/api/v1/audit', {
      operation: 'listAuditEntries',
      action: 'audit:read',
      query: ['subject', 'since', 'until', 'auditSort', 'limit', 'cursor'],
      summary:
        'List audit entries, newest first or oldest first, between two times and about one subject; kept for 30 days, at most 10,000 of each kind: writes, accesses, counted reads. A page may be short although `nextCursor` is set, because a response reads at most 2,000 entries',
      shape: pageShape(auditEntryShape),
      run: ({ caller, query, charge }) => {
        const { limit, cursor, subject, auditSort: sort } = query
        const times = readTimeRange(query, clock.now())
        return listAudit(chargedReads(store, charge), caller.tenant, { limit, cursor, subject, sort, times })
      },
    }),
  ]
}

/** Follows the events of a tenant. The header Last-Event-ID takes precedence over the query parameter `after`. */
async function follow(
  store: Store,
  { caller, query, lastEventId }: ApiRequest,
): Promise<Outcome<StreamedResponse>> {
  const text = lastEventId ?? query.after
  const from = text === undefined ? undefined : readEventCursor(text)
  if (text !== undefined && from === undefined) {
    const accepted = 'the id of an event from the stream, for example 1042-0'
    return refused(
      lastEventId === undefined
        ? badCursor('after', text)
        : reject('header_invalid', 'Last-Event-ID', text, { accepted }),
    )
  }
  const { type, subject, severity } = query
  let stream: EventStream | undefined
  const follower = await followEvents(store, caller.tenant, {
    from,
    filter: { type, subject, severity },
    onArrival: () => stream?.arrived(),
  })
  stream = openEventStream(follower)
  return done(stream)
}
