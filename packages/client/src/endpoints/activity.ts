// The endpoints /events, /audit and /errors.

import { auditEntryShape, eventPageShape, listedCodeShape, pageShape } from '@holdfast/contract'
import type { CallOptions, Calls } from '../calls.ts'
import type { PageQuery } from '../pages.ts'
import { type EventQuery, type PastQuery, readPastEvents } from '../past-events.ts'
import { segment } from '../request.ts'
import { itemsShape } from '../responses.ts'

export function activityCalls({ get }: Calls) {
  const events = (query: EventQuery = {}, options?: CallOptions) =>
    get('/events', eventPageShape, { ...query }, options)
  return {
    /** Reads one page of events, oldest first; by default the newest page. `earlierCursor`: set if older events exist. */
    events,
    /** Reads pages until `limit` events are read, or no older event exists. */
    pastEvents: (query: PastQuery, options?: CallOptions) =>
      readPastEvents((each) => events(each, options), query),
    audit: (page: PageQuery = {}, options?: CallOptions) =>
      get('/audit', pageShape(auditEntryShape), { ...page }, options),
    errors: (options?: CallOptions) => get('/errors', itemsShape(listedCodeShape), {}, options),
    error: (code: string, options?: CallOptions) =>
      get(`/errors/${segment(code)}`, listedCodeShape, {}, options),
  }
}
