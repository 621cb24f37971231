// Judges the certificates that the configuration names by the time for which they are still valid.

import { couldNotObserve, type Finding, failure, type Observed, ok, warning } from './finding.ts'

export interface ExpiryFacts {
  readonly path: string
  readonly notAfterMs: Observed<number>
}

const DAY_MS = 86_400_000
const WARNING_DAYS = 30
const URGENT_DAYS = 14
const FAILURE_DAYS = 7

export function judgeCertificates(facts: readonly ExpiryFacts[], nowMs: number): readonly Finding[] {
  return facts.map((fact) => judgeCertificate(fact, nowMs))
}

function judgeCertificate({ path, notAfterMs }: ExpiryFacts, nowMs: number): Finding {
  const check = `certificate ${path}`
  if (notAfterMs.kind === 'unobserved')
    return couldNotObserve(check, notAfterMs.why, 'run the doctor as root')
  const days = Math.floor((notAfterMs.value - nowMs) / DAY_MS)
  const until = new Date(notAfterMs.value).toISOString().slice(0, 10)
  const remedy = 'renew it: certificates of holdfast-server setup are renewed by running setup again'
  if (notAfterMs.value <= nowMs) return failure(check, `expired on ${until}`, remedy)
  const text = `expires in ${days} ${days === 1 ? 'day' : 'days'}, on ${until}`
  if (days < FAILURE_DAYS) return failure(check, text, `${remedy}; do it now`)
  if (days < URGENT_DAYS) return warning(check, text, `${remedy}; do it this week`)
  return days < WARNING_DAYS ? warning(check, text, remedy) : ok(check, text)
}
