// Records that writes leave behind: events, audit entries, responses kept for an Idempotency-Key, and cancel marks.

import { auditEntryShape, eventShape, integer, json, nullable, object, string } from '@holdfast/contract'
import { globalCollection, historyCollection, v } from './collection.ts'

export const storedEventShape = object({ v, ...eventShape.fields })

export const storedAuditShape = object({ v, ...auditEntryShape.fields })

/** The first 2xx response to a request with an Idempotency-Key. */
export const idempotentAnswerShape = object({
  v,
  requestHash: string(),
  status: integer(),
  body: json<object>(),
  etag: nullable(string()),
  expiresAt: string(),
})

/** The cancel mark of a transaction with an unknown outcome: etcd rejects the transaction if it arrives later. */
export const cancelShape = object({ v, at: string() })

export const events = historyCollection('evt', storedEventShape, false)
export const audit = historyCollection('aud', storedAuditShape, false)
/** Entries of exec sessions, sign-ins and downloads, which must not displace those of writes. */
export const accessAudit = historyCollection('audx', storedAuditShape, false)
/** Entries with counted reads of logs, which must displace neither. */
export const readAudit = historyCollection('audr', storedAuditShape, false)
export const AUDIT_COLLECTIONS = [audit, accessAudit, readAudit] as const
export const idempotentAnswers = historyCollection('idem', idempotentAnswerShape, false)
export const cancels = globalCollection('cancel', cancelShape)
