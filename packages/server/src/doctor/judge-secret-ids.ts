// Judges the secret ids of the configuration: whether they expire, and whether a process renews them in time.

import { isRenewalDue, type Lifetime } from '../lifecycle/secret-ids/plan-renewal.ts'
import { couldNotObserve, type Finding, type Observed, ok, warning } from './finding.ts'
import { expiryText, judgeExpiry } from './judge-expiry.ts'

export interface SecretIdObserved {
  readonly identity: 'api' | 'broker'
  readonly lifetime: Observed<Lifetime>
  /** Whether the owner of its file may replace the file, so that the process renews the secret id itself. */
  readonly isRenewed: boolean
}

const GUIDE = 'docs/guides/configuration.md#secret-ids-that-expire'
const BY_HAND = `renew it by hand as in ${GUIDE}`

export const judgeSecretIds = (facts: readonly SecretIdObserved[], nowMs: number): readonly Finding[] =>
  facts.map((fact) => judgeSecretId(fact, nowMs))

function judgeSecretId({ identity, lifetime, isRenewed }: SecretIdObserved, nowMs: number): Finding {
  const check = `secret id ${identity}`
  if (lifetime.kind === 'unobserved')
    return couldNotObserve(
      check,
      lifetime.why,
      'repair the identity first; if the policy is of an earlier version, run: holdfast-server init --operator-token-file FILE',
    )
  const { expiresAtMs } = lifetime.value
  if (expiresAtMs === undefined)
    return warning(check, 'never expires', `update the policies and replace it as in ${GUIDE}`)
  // A process renews a short lifetime in time too.
  if (isRenewed && !isRenewalDue(lifetime.value, nowMs)) return ok(check, expiryText(expiresAtMs, nowMs))
  const remedy = isRenewed ? `read in the log of the process why it was not renewed, or ${BY_HAND}` : BY_HAND
  const note = isRenewed ? '' : `, and is not renewed automatically: ${BY_HAND}`
  return judgeExpiry({ check, remedy, note }, expiresAtMs, nowMs)
}
