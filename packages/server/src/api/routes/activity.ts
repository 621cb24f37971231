// /api/v1/events, their stream, and /api/v1/audit. SPEC 6, DECISIONS 1.

import { auditEntryShape, eventPageShape, pageShape, string } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { done, type Outcome, refused } from '../../operations/caller.ts'
import { readEventCursor } from '../../operations/events/event-cursor.ts'
import { followEvents } from '../../operations/events/follow-events.ts'
import { badCursor, listAudit, listEvents } from '../../operations/events/read-events.ts'
import type { Store } from '../../store/store.ts'
import { type ApiRequest, answer, answerWith, type Endpoint, type StreamedAnswer } from '../endpoint.ts'
import { EVENT_STREAM, type EventStream, openEventStream } from '../streams/event-stream.ts'

export function activityEndpoints(store: Store): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/events',
      action: 'events:read',
      summary:
        'List events: the newest, those after a cursor, or the newest before one. An answer looks at 2,000: where older ones were not looked at, `earlierCursor` goes on as `before`. Kept for 30 days, at most 10,000, and `truncated` where `after` is older',
      query: ['type', 'subject', 'severity', 'after', 'before', 'limit'],
      headers: [],
      success: { status: 200, shape: eventPageShape },
      codes: [],
      handle: async ({ caller, query: { limit, after, before, type, subject, severity } }) =>
        answerWith(
          await listEvents(store, caller.tenant, { limit, after, before, type, subject, severity }),
          (page) => answer(200, page),
        ),
    },
    {
      method: 'GET',
      path: '/api/v1/events/stream',
      action: 'events:read',
      summary:
        'Follow events as Server-Sent Events: id is the cursor, event the type, data the event; from now on, or behind Last-Event-ID or `after`. The event `truncated` tells that some are kept no more',
      query: ['type', 'subject', 'severity', 'after'],
      headers: ['Last-Event-ID'],
      streams: true,
      success: { status: 200, shape: string(), type: EVENT_STREAM },
      codes: [],
      handle: (request) => follow(store, request),
    },
    {
      method: 'GET',
      path: '/api/v1/audit',
      action: 'audit:read',
      summary: 'List who changed what, oldest first; kept for 30 days, at most 10,000',
      query: ['limit', 'cursor'],
      headers: [],
      success: { status: 200, shape: pageShape(auditEntryShape) },
      codes: [],
      handle: async ({ caller, query: { limit, cursor } }) =>
        answerWith(await listAudit(store, caller.tenant, { limit, cursor }), (page) => answer(200, page)),
    },
  ]
}

/** What a reader that comes back has seen last goes before where it once began. */
async function follow(
  store: Store,
  { caller, query, lastEventId }: ApiRequest,
): Promise<Outcome<StreamedAnswer>> {
  const text = lastEventId ?? query.after
  const from = text === undefined ? undefined : readEventCursor(text)
  if (text !== undefined && from === undefined) {
    const accepted = 'the id of an event as the stream gave it, for example 1042-0'
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
