// The part of `holdfast-server init` that needs an operator's token: policies, roles and two identities in the secrets
// store. The setup may be repeated: existing parts stay, and an identity is issued only if the configuration has none.

import { readFileSync } from 'node:fs'
import {
  type Identity,
  type IdentityName,
  issueIdentity,
  setUpPlatform,
} from './adapters/secrets-store/provision-platform.ts'
import type { Config } from './config/schema.ts'
import { connectOperator } from './connect-engines.ts'
import { type Secret, secret } from './ports/secret.ts'
import type { SecretIdOwner } from './ports/secret-ids.ts'

export type SecretsStoreSetUp =
  | {
      readonly kind: 'ok'
      readonly done: readonly string[]
      /** The identities that this run of `init` has issued; the operator must add them to the configuration. */
      readonly issued: { readonly [Name in IdentityName]?: Identity }
    }
  | { readonly kind: 'failed'; readonly why: string }

/** Issues each identity that the configuration lacks, with the token in a file. */
export function setUpSecretsStore(config: Config, tokenFile: string): Promise<SecretsStoreSetUp> {
  const token = secret(readFileSync(tokenFile, 'utf8').trim())
  const missing = (['api', 'broker'] as const).filter((name) => config.secretsStore[name] === undefined)
  return issueIdentities(config, token, missing, 'operator')
}

/** `owner` as in `issueSecretId`: whether one process alone receives each secret id. */
export async function issueIdentities(
  config: Config,
  token: Secret,
  names: readonly IdentityName[],
  owner: SecretIdOwner,
): Promise<SecretsStoreSetUp> {
  const client = connectOperator(config, token)
  try {
    const ready = await setUpPlatform(client, {
      namespaces: config.secrets.namespaces,
      secretIdDays: config.secretsStore.secretIdDays,
    })
    if (ready.kind !== 'ok') return failed(ready)
    const issued: { [Name in IdentityName]?: Identity } = {}
    for (const name of names) {
      const identity = await issueIdentity(client, name, owner)
      if ('kind' in identity) return failed(identity)
      issued[name] = identity
    }
    return { kind: 'ok', done: ready.done, issued }
  } finally {
    client.close()
  }
}

type Failure = { readonly kind: 'denied' } | { readonly kind: 'unavailable'; readonly cause: string }

function failed(failure: Failure): SecretsStoreSetUp {
  const why =
    failure.kind === 'denied'
      ? 'rejected the token: it lacks the permission'
      : `does not answer: ${failure.cause}`
  return { kind: 'failed', why }
}
