// Judges the secrets store: whether it is unsealed, and whether the identities of this configuration have their policies.

import { couldNotObserve, type Finding, failure, type Observed, ok } from './finding.ts'

export type SealStatus = 'empty' | 'sealed' | 'unsealed'
/** `refused`: the login failed; `denied`: the login succeeded, and the policy does not allow what it should. */
export type IdentityProbe = 'works' | 'denied' | 'refused'

export interface SecretsStoreFacts {
  readonly address: string
  readonly status: Observed<SealStatus>
  /** One probe for each identity of the configuration. */
  readonly identities: ReadonlyMap<'api' | 'broker', Observed<IdentityProbe>>
}

export function judgeSecretsStore({ address, status, identities }: SecretsStoreFacts): readonly Finding[] {
  return [judgeSeal(address, status), ...[...identities].map(([name, probe]) => judgeIdentity(name, probe))]
}

function judgeSeal(address: string, status: Observed<SealStatus>): Finding {
  const check = 'secrets store'
  if (status.kind === 'unobserved')
    return failure(
      check,
      `${address} does not answer: ${status.why}`,
      'start it, then check secretsStore.address and secretsStore.ca in the configuration',
    )
  switch (status.value) {
    case 'unsealed':
      return ok(check, `${address} is unsealed`)
    case 'sealed':
      return failure(
        check,
        `${address} is sealed, so no secret can be read or written`,
        'unseal it: holdfast-server setup with --unseal-key-file, or: vault operator unseal',
      )
    case 'empty':
      return failure(check, `${address} is not initialized`, 'run holdfast-server setup, or initialize it')
  }
}

const ISSUE = 'issue the identities again: holdfast-server init --operator-token-file FILE'

function judgeIdentity(name: 'api' | 'broker', probe: Observed<IdentityProbe>): Finding {
  const check = `secrets store identity ${name}`
  if (probe.kind === 'unobserved') return couldNotObserve(check, probe.why, 'repair the secrets store first')
  switch (probe.value) {
    case 'works':
      return ok(check, 'logs in and has its policy')
    case 'refused':
      return failure(check, 'the login is refused: role id or secret id is not valid', ISSUE)
    case 'denied':
      return failure(check, 'logs in, but its policy is missing or out of date', ISSUE)
  }
}
