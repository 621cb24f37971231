// For tests only: a real secrets store, set up as in production. Leak checks search for the values that tests write.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isTenantId, type TenantId } from '@holdfast/contract'
import { type SecretsStore, sharedSecretsStore } from '@holdfast/testkit'
import { secret } from '../../ports/secret.ts'
import type { SecretDocument, SecretsReader, SecretsWriter } from '../../ports/secrets-store.ts'
import { type PlatformIdentities, provisionPlatform } from './provision-platform.ts'
import { createSecretsReader } from './secrets-reader.ts'
import { createSecretsStoreClient, type SecretsStoreClient } from './secrets-store-client.ts'
import { createSecretsWriter } from './secrets-writer.ts'
import type { StoreAuth } from './store-session.ts'

export const namespaces = ['deployments', 'resources']
export const CANARY = `canary-${randomUUID()}`
export const web = { namespace: 'deployments', label: 'web' }

export interface OpenOptions {
  readonly deadlineMs?: number
  readonly nowMs?: () => number
  readonly address?: string
}

export interface RealStore {
  readonly store: SecretsStore
  readonly platform: PlatformIdentities
  readonly writer: SecretsWriter
  readonly reader: SecretsReader
  readonly clients: readonly SecretsStoreClient[]
  open(auth: StoreAuth, options?: OpenOptions): SecretsStoreClient
  provision(): Promise<PlatformIdentities>
  newTenant(): Promise<TenantId>
  /** Returns the values of the secret deployments/web at `version`, or the outcome of a failed read. */
  readValues(tenant: TenantId, version: number): Promise<unknown>
  /** Returns how many requests for `path` the store has answered. */
  audited(path: string): number
  close(): void
}

/** Opens the secrets store that all tests share, unless a test passes its own. */
export async function openRealStore(own?: SecretsStore): Promise<RealStore> {
  const store = own ?? (await sharedSecretsStore())
  const clients: SecretsStoreClient[] = []
  const open = (auth: StoreAuth, options: OpenOptions = {}) => {
    const client = createSecretsStoreClient({ address: store.address, auth, ...options })
    clients.push(client)
    return client
  }
  const privileged = open({ token: secret(store.rootToken) })
  const provision = () => provisionOrThrow(privileged)
  const platform = await provision()
  const writer = createSecretsWriter({ client: open(platform.api), namespaces })
  const reader = createSecretsReader({ client: open(platform.broker), namespaces })
  return {
    store,
    platform,
    writer,
    reader,
    clients,
    open,
    provision,
    newTenant: () => provisionedTenant(writer),
    readValues: async (tenant, version) => {
      const found = await reader.readVersion(tenant, web, version)
      return found.kind === 'ok' ? revealed(found.document) : found
    },
    audited: (path) => countAudited(store.auditLogPath, path),
    close: () => {
      for (const client of clients) client.close()
    },
  }
}

export function tenantId(): TenantId {
  const id = randomUUID()
  if (!isTenantId(id)) throw new TypeError(id)
  return id
}

export function document(values: { [key: string]: string } = { PASSWORD: CANARY }): SecretDocument {
  return new Map(Object.entries(values).map(([key, value]) => [key, secret(value)]))
}

export function revealed(found: SecretDocument): [string, string][] {
  return [...found].map(([key, value]) => [key, value.reveal()])
}

async function provisionOrThrow(privileged: SecretsStoreClient): Promise<PlatformIdentities> {
  const found = await provisionPlatform(privileged, { namespaces })
  if (found.kind !== 'ok') throw new Error(`provisioning the platform: ${found.kind}`)
  return found
}

async function provisionedTenant(writer: SecretsWriter): Promise<TenantId> {
  const tenant = tenantId()
  const done = await writer.provisionTenant(tenant)
  if (done.kind !== 'ok') throw new Error(`provisioning a tenant: ${done.kind}`)
  return tenant
}

function countAudited(file: string, path: string): number {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"${path}"`))
  return lines.filter((line) => JSON.parse(line).type === 'response').length
}
