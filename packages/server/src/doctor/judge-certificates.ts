// Judges the certificates that the configuration names by the time for which they are still valid.

import { expiryStage, wholeDays } from '../config/certificate-files.ts'
import { couldNotObserve, type Finding, failure, type Observed, ok, warning } from './finding.ts'

export interface ExpiryFacts {
  readonly path: string
  readonly notAfterMs: Observed<number>
}

export function judgeCertificates(facts: readonly ExpiryFacts[], nowMs: number): readonly Finding[] {
  return facts.map((fact) => judgeCertificate(fact, nowMs))
}

function judgeCertificate({ path, notAfterMs }: ExpiryFacts, nowMs: number): Finding {
  const check = `certificate ${path}`
  if (notAfterMs.kind === 'unobserved')
    return couldNotObserve(check, notAfterMs.why, 'run the doctor as root')
  const until = new Date(notAfterMs.value).toISOString().slice(0, 10)
  const remedy = 'renew it: run holdfast-server setup again, on a machine that joined with a new invitation'
  const days = wholeDays(notAfterMs.value, nowMs)
  const text = `expires in ${days} ${days === 1 ? 'day' : 'days'}, on ${until}`
  switch (expiryStage(notAfterMs.value, nowMs)) {
    case 'expired':
      return failure(check, `expired on ${until}`, remedy)
    case 'week':
      return failure(check, text, `${remedy}; do it now`)
    case 'fortnight':
      return warning(check, text, `${remedy}; do it this week`)
    case 'month':
      return warning(check, text, remedy)
    case 'valid':
      return ok(check, text)
  }
}
