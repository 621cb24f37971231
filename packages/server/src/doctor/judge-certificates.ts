// Judges the certificates that the configuration names by the time for which they are still valid.

import { couldNotObserve, type Finding, type Observed } from './finding.ts'
import { judgeExpiry } from './judge-expiry.ts'

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
  const remedy = 'renew it: run holdfast-server setup again, on a machine that joined with a new invitation'
  return judgeExpiry({ check, remedy }, notAfterMs.value, nowMs)
}
