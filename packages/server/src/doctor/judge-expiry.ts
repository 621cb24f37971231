// Judges how long something with an expiry is still valid, by the stages at which operators are warned.

import { expiryStage, wholeDays } from '../config/certificate-files.ts'
import { type Finding, failure, ok, warning } from './finding.ts'

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** `expires in 12 days, on 2026-12-01`. */
export function expiryText(expiresAtMs: number, nowMs: number): string {
  const days = wholeDays(expiresAtMs, nowMs)
  return `expires in ${days} ${days === 1 ? 'day' : 'days'}, on ${dayOf(expiresAtMs)}`
}

/** `note` follows the text of a healthy finding. */
export function judgeExpiry(
  { check, remedy, note = '' }: { readonly check: string; readonly remedy: string; readonly note?: string },
  expiresAtMs: number,
  nowMs: number,
): Finding {
  const text = expiryText(expiresAtMs, nowMs)
  switch (expiryStage(expiresAtMs, nowMs)) {
    case 'expired':
      return failure(check, `expired on ${dayOf(expiresAtMs)}`, remedy)
    case 'week':
      return failure(check, text, `${remedy}; do it now`)
    case 'fortnight':
      return warning(check, text, `${remedy}; do it this week`)
    case 'month':
      return warning(check, text, remedy)
    case 'valid':
      return ok(check, `${text}${note}`)
  }
}
