// Prepares a fresh platform for its first request: creates identities in the secrets store, and API tokens.

import { provisionPlatform } from '@holdfast/server/adapters/secrets-store/provision-platform'
import { createSecretsStoreClient } from '@holdfast/server/adapters/secrets-store/secrets-store-client'
import { secret } from '@holdfast/server/ports/secret'
import type { ApiClient } from './api-client.ts'

/** Longer than the longest test. */
const TOKEN_MS = 24 * 3_600_000

export async function provision(address: string, rootToken: string) {
  const client = createSecretsStoreClient({ address, auth: { token: secret(rootToken) } })
  const made = await provisionPlatform(client, { namespaces: ['deployments', 'resources'] })
  client.close()
  if (made.kind !== 'ok') throw new Error(`the secrets store was not set up: ${made.kind}`)
  const plain = ({ roleId, secretId }: typeof made.api) => ({ roleId, secretId: secretId.reveal() })
  return { api: plain(made.api), broker: plain(made.broker) }
}

export async function makeToken(api: ApiClient, tenant: string, role: string): Promise<string> {
  const expiresAt = new Date(Date.now() + TOKEN_MS).toISOString()
  const { status, body, text } = await api.post(`/api/v1/tenants/${tenant}/tokens`, {
    name: `test ${role}`,
    role,
    expiresAt,
  })
  if (status !== 201) throw new Error(`no token: ${text}`)
  return String(body['token'])
}
