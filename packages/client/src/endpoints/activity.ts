// /events, /audit and /errors: what happened, who did it, and what a code means. DECISIONS 1.

import { auditEntryShape, listedCodeShape, listedEventShape, pageShape } from '@holdfast/contract'
import { itemsShape } from '../answers.ts'
import type { CallOptions, Calls } from '../calls.ts'
import type { EventFilter } from '../follow-events.ts'
import type { PageQuery } from '../pages.ts'
import { segment } from '../request.ts'

export interface EventQuery extends EventFilter {
  readonly after?: string | undefined
  readonly limit?: number
}

export function activityCalls({ get }: Calls) {
  return {
    /** Without `after` the newest, oldest of them first. */
    events: (query: EventQuery = {}, options?: CallOptions) =>
      get('/events', pageShape(listedEventShape), { ...query }, options),
    audit: (page: PageQuery = {}, options?: CallOptions) =>
      get('/audit', pageShape(auditEntryShape), { ...page }, options),
    errors: (options?: CallOptions) => get('/errors', itemsShape(listedCodeShape), {}, options),
    error: (code: string, options?: CallOptions) =>
      get(`/errors/${segment(code)}`, listedCodeShape, {}, options),
  }
}
