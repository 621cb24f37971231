// A platform for tests that write and inspect secrets: over HTTP, in the secrets store itself, and in the records of
// etcd.

import { type DeploymentUid, ownerOf, type TenantId } from '@holdfast/contract'
import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import { sweepIntents } from '@holdfast/server/operations/secrets/versions/sweep-intents'
import { credentials } from '@holdfast/server/store/records'
import { openStore, type Store } from '@holdfast/server/store/store'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { sharedSecretsStore } from '@holdfast/testkit'
import pino from 'pino'
import type { ApiAnswer, ApiClient } from '../platform/api-client.ts'
import { connectStore } from '../platform/connect-store.ts'
import { dumpKeys } from '../platform/dump-keys.ts'
import { sharedPlatform } from '../platform/shared-platform.ts'
import type { Platform } from '../platform/start-platform.ts'
import { createStoreEye, type StoreEye } from './store-eye.ts'

export const SECRETS = '/api/v1/secrets'
export const DEPLOYMENTS = '/api/v1/deployments'

export const at = (label: string, namespace = 'resources'): string => `${SECRETS}/${namespace}/${label}`

type Item = { readonly [field: string]: unknown }

export interface SecretsWorld {
  readonly platform: Platform
  /** API client of the administrator of tenant acme. */
  readonly api: ApiClient
  readonly eye: StoreEye
  /** Generates a secrets label that was not used before. */
  newLabel(): string
  write(label: string, values?: object): Promise<ApiAnswer>
  /** Creates a deployment without replicas that refers to `resources/<label>` for each label. */
  deploy(name: string, labels: readonly string[]): Promise<ApiAnswer>
  /** All items of a paginated list, from all pages. */
  listAll(from: string, client?: ApiClient, limit?: number): Promise<Item[]>
  /** The item of a secret in the response to GET /secrets. */
  summaryOf(label: string): Promise<Item | undefined>
  versionsOf(label: string): Promise<number[]>
  leftIntents(): Promise<string[]>
  /** Runs the server's janitor, which cleans up after interrupted writes of secrets, once. */
  sweep(): Promise<void>
  /** Writes a placement with a template that uses version 1 of a credential to which its deployment no longer refers. */
  placeTemplate(name: string, label: string): Promise<void>
  /** Adds a version number to a credential's record without writing that version to the secrets store. */
  listNumber(label: string, version: number): Promise<void>
}

export async function startSecretsWorld(platform?: Platform): Promise<SecretsWorld> {
  const own = platform ?? (await sharedPlatform())
  const api = own.api(own.acme.token)
  const eye = createStoreEye({ ...(await sharedSecretsStore()), tenant: own.acme.id })
  const summaryOf = async (label: string) =>
    (await listAll(SECRETS, api)).find(({ resource }) => resource === label)
  let serial = 0
  return {
    platform: own,
    api,
    eye,
    summaryOf,
    newLabel() {
      serial += 1
      return `s${serial}`
    },
    write: (label, values = { password: 'first' }) => api.put(at(label), { values }),
    deploy: (name, labels) => deploy(own, api, name, labels),
    listAll: (from, client = api, limit = 500) => listAll(from, client, limit),
    versionsOf: async (label) => numbersIn(await summaryOf(label)),
    leftIntents: async () =>
      Object.keys(await dumpKeys(own.config.etcd.endpoints[0] ?? '', `${own.root}/g/intent/`)),
    sweep: () => sweepOnce(own),
    placeTemplate: (name, label) => placeTemplate(own, name, label),
    listNumber: (label, version) => listNumber(own, label, version),
  }
}

async function deploy(
  { image }: Platform,
  api: ApiClient,
  name: string,
  labels: readonly string[],
): Promise<ApiAnswer> {
  const secrets = labels.map((label, index) => ({
    name: `S${index}`,
    vault_path: `resources/${label}`,
    anchor: 'external',
  }))
  const answer = await api.post(DEPLOYMENTS, { kind: 'Deployment', name, image, replicas: 0, secrets })
  if (answer.status !== 201) throw new Error(`creating the deployment failed: ${answer.text}`)
  return answer
}

async function listAll(from: string, client: ApiClient, limit = 500): Promise<Item[]> {
  const items: Item[] = []
  let cursor = ''
  do {
    const { status, body, text } = await client.get(`${from}?limit=${limit}${cursor}`)
    if (status !== 200) throw new Error(`listing failed: ${text}`)
    items.push(...Object(body['items']))
    cursor = body['nextCursor'] === null ? '' : `&cursor=${body['nextCursor']}`
  } while (cursor !== '')
  return items
}

function numbersIn(summary: Item = { versions: [] }): number[] {
  return Object(summary['versions']).map(({ version }: { version: number }) => version)
}

/**
 * Writes to the store like another server of the platform, and resolves once the platform's own server has seen the
 * write.
 */
async function withStore<T>({ config, server }: Platform, use: (store: Store) => Promise<T>): Promise<T> {
  const engine = connectStore(config, pino({ level: 'silent' }))
  const store = await openStore({ engine, clock, ids, root: config.etcd.root, onUnreadable: () => {} })
  try {
    const result = await use(store)
    await server.store.fresh()
    return result
  } finally {
    store.close()
    engine.close()
  }
}

export const sweepOnce = (platform: Platform): Promise<void> =>
  withStore(platform, (store) =>
    sweepIntents({ store, clock, secrets: connectSecretsWriter(platform.config) }),
  )

const placeTemplate = (platform: Platform, name: string, label: string): Promise<void> =>
  withStore(platform, (store) =>
    store.transact((transaction) => {
      const secrets = [{ name: 'S', namespace: 'resources', label, version: 1 }]
      const template = { name, image: 'x@y', environment: {}, labels: {}, stopGracePeriod: '10s', secrets }
      const owner = ownerOf('deployment', `dep_${ids.ulid()}` as DeploymentUid)
      transaction.put(placementAt(platform.acme.id as TenantId, owner), {
        v: 1,
        owner,
        name,
        revision: 2,
        everAssigned: true,
        assignments: [],
        templates: { kept: template },
        reportedRefusals: '',
        reportedPhase: '',
        lastGood: { revision: 1, templateHash: 'kept' },
      })
      return { kind: 'commit', result: undefined }
    }),
  )

const listNumber = (platform: Platform, label: string, version: number): Promise<void> =>
  withStore(platform, (store) =>
    store.transact((transaction) => {
      const address = inTenant(platform.acme.id as TenantId, credentials, label)
      const credential = transaction.get(address)
      if (credential === undefined) throw new Error(`no credential ${label}`)
      const versions = [...credential.versions, { version, keys: [], createdAt: '' }]
      transaction.put(address, { ...credential, versions })
      return { kind: 'commit', result: undefined }
    }),
  )
