// `holdfast-server provision`: sets the secrets store up for this platform with a privileged token, once, and prints the two
// identities for the configuration. It reads no configuration, since the identities that it makes belong there.

import { provisionPlatform } from './adapters/secrets-store/provision-platform.ts'
import { createSecretsStoreClient } from './adapters/secrets-store/secrets-store-client.ts'
import { secret } from './ports/secret.ts'

export interface ProvisionEnvironment {
  readonly [name: string]: string | undefined
}

const NAMESPACES = ['deployments', 'resources']

/** The address and the token come from the variables that the store's own tools use: BAO_*, then VAULT_*. */
export async function runProvision(env: ProvisionEnvironment): Promise<number> {
  const address = env['BAO_ADDR'] ?? env['VAULT_ADDR']
  const token = env['BAO_TOKEN'] ?? env['VAULT_TOKEN']
  if (address === undefined || token === undefined) {
    process.stderr.write(
      'Set BAO_ADDR and BAO_TOKEN (or VAULT_ADDR and VAULT_TOKEN) to the store and a token that may write policies.\n',
    )
    return 2
  }
  const client = createSecretsStoreClient({ address, auth: { token: secret(token) } })
  const made = await provisionPlatform(client, { namespaces: NAMESPACES })
  client.close()
  if (made.kind !== 'ok') {
    process.stderr.write(
      `The secrets store ${made.kind === 'denied' ? 'refused: the token may not do this' : `does not answer: ${made.cause}`}. Nothing is lost; run this again.\n`,
    )
    return 1
  }
  const identity = ({ roleId, secretId }: typeof made.api) => ({ roleId, secretId: secretId.reveal() })
  process.stderr.write('Put this under secretsStore in the configuration; the secret ids are shown once.\n')
  process.stdout.write(
    `${JSON.stringify({ api: identity(made.api), broker: identity(made.broker) }, undefined, 2)}\n`,
  )
  return 0
}
