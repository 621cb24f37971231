// The endpoints /events, /audit and /errors.

import { auditEntryShape, eventPageShape, listedCodeShape, pageShape } from '@holdfast/contract'
import type { CallOptions, Calls } from '../calls.ts'
import type { PageQuery } from '../pages.ts'
import { type EventQuery, type PastQuery, readPastEvents } from '../past-events.ts'
import { segment } from '../request.ts'
import { itemsShape } from '../responses.ts'

export interface AuditQuery extends PageQuery {
  /** Name of the record that was changed. */
  readonly subject?: string | undefined
  /** A time, or a duration before now. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly sort?: 'newest' | 'oldest'
}

export function activityCalls({ get }: Calls) {
  const events = (query: EventQuery = {}, options?: CallOptions) =>
    get('/events', eventPageShape, { ...query }, options)
  return {
    /** Reads one page of events, oldest first; by default the newest page. `earlierCursor`: set if older events exist. */
    events,
    /** Reads pages until `limit` events are read, or no older event exists. */
    pastEvents: (query: PastQuery, options?: CallOptions) =>
      readPastEvents((each) => events(each, options), query),
    /** Reads one page of the audit trail, newest first unless `sort` is `oldest`. */
    audit: (query: AuditQuery = {}, options?: CallOptions) =>
      get('/audit', pageShape(auditEntryShape), { ...query }, options),
    errors: (options?: CallOptions) => get('/errors', itemsShape(listedCodeShape), {}, options),
    error: (code: string, options?: CallOptions) =>
      get(`/errors/${segment(code)}`, listedCodeShape, {}, options),
  }
}
