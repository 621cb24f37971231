// Reads a tenant's credential for one registry.

import type { TenantId } from '@holdfast/contract'
import type { RegistryCredential } from '../ports/registry.ts'
import type { SecretDocument, SecretsReader } from '../ports/secrets-store.ts'

export type CredentialSource = Pick<SecretsReader, 'readVersion'>

/** Returns the credential, or undefined if the secrets store does not return it, for any reason. */
export async function readCredential(
  secretsStore: CredentialSource,
  tenant: TenantId,
  registryHost: string,
  version: number,
): Promise<RegistryCredential | undefined> {
  const read = await secretsStore.readVersion(tenant, { registryHost }, version)
  return read.kind === 'ok' ? credentialIn(read.document) : undefined
}

function credentialIn(document: SecretDocument): RegistryCredential | undefined {
  const username = document.get('username')?.reveal()
  const password = document.get('password')
  return username === undefined || password === undefined ? undefined : { username, password }
}
