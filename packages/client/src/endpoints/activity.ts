// /events, /audit and /errors: what happened, who did it, and what a code means. DECISIONS 1.

import { auditEntryShape, listedEventShape } from '@holdfast/contract'
import { explainedCodeShape, itemsShape, pageShape } from '../answers.ts'
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
    errors: (options?: CallOptions) => get('/errors', itemsShape(explainedCodeShape), {}, options),
    error: (code: string, options?: CallOptions) =>
      get(`/errors/${segment(code)}`, explainedCodeShape, {}, options),
  }
}
