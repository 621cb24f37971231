// /api/v1/events and /api/v1/audit. SPEC 6, DECISIONS 1.

import { auditEntryShape, listedEventShape } from '@holdfast/contract'
import { listAudit, listEvents } from '../../operations/read-events.ts'
import type { Store } from '../../store/store.ts'
import { answer, answerWith, type Endpoint } from '../endpoint.ts'
import { pageShape } from '../page-shape.ts'

export function activityEndpoints(store: Store): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/events',
      action: 'events:read',
      summary: 'List events: the newest, or those after a cursor',
      query: ['type', 'subject', 'severity', 'after', 'limit'],
      headers: [],
      success: { status: 200, shape: pageShape(listedEventShape) },
      codes: [],
      handle: async ({ caller, query: { limit, after, type, subject, severity } }) =>
        answerWith(
          await listEvents(store, caller.tenant, { limit, after, type, subject, severity }),
          (page) => answer(200, page),
        ),
    },
    {
      method: 'GET',
      path: '/api/v1/audit',
      action: 'audit:read',
      summary: 'List who changed what, oldest first',
      query: ['limit', 'cursor'],
      headers: [],
      success: { status: 200, shape: pageShape(auditEntryShape) },
      codes: [],
      handle: async ({ caller, query: { limit, cursor } }) =>
        answerWith(await listAudit(store, caller.tenant, { limit, cursor }), (page) => answer(200, page)),
    },
  ]
}
