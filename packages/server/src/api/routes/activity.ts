// The endpoints /api/v1/events, /api/v1/events/stream and /api/v1/audit: events and audit trail of a tenant.

import { auditEntryShape, eventPageShape, string } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { done, type Outcome, refused } from '../../operations/caller.ts'
import { readEventCursor } from '../../operations/events/event-cursor.ts'
import { followEvents } from '../../operations/events/follow-events.ts'
import { badCursor, listAudit, listEvents } from '../../operations/events/read-events.ts'
import type { Store } from '../../store/store.ts'
import { type ApiRequest, type Endpoint, endpoint, listEndpoint, type StreamedResponse } from '../endpoint.ts'
import { EVENT_STREAM, type EventStream, openEventStream } from '../streams/event-stream.ts'

export function activityEndpoints(store: Store): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/events', {
      operation: 'listEvents',
      action: 'events:read',
      summary:
        'List events: the newest, those after a cursor, or the newest before one. A response examines at most 2,000 events; if older ones were not examined, pass `earlierCursor` as `before`. Events are kept for 30 days, at most 10,000; `truncated` is set if `after` is older',
      query: ['type', 'subject', 'severity', 'after', 'before', 'limit'],
      shape: eventPageShape,
      run: ({ caller, query: { limit, after, before, type, subject, severity } }) =>
        listEvents(store, caller.tenant, { limit, after, before, type, subject, severity }),
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
    listEndpoint('/api/v1/audit', {
      operation: 'listAuditEntries',
      action: 'audit:read',
      summary: 'List audit entries, oldest first; kept for 30 days, at most 10,000',
      item: auditEntryShape,
      run: ({ caller, query }) => listAudit(store, caller.tenant, query),
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
