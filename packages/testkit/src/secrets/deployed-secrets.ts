// Deployments of one tenant that refer to secrets or contain them, and functions that read etcd and
// the secrets store directly.

import {
  credentials,
  deployments,
  type StoredCredential,
  type StoredDeployment,
} from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { sharedSecretsStore } from '@holdfast/testkit'
import { expect } from 'vitest'
import type { ApiAnswer, ApiClient } from '../platform/api-client.ts'
import { dumpKeys, type KeyDump, withoutServers } from '../platform/dump-keys.ts'
import type { Platform } from '../platform/start-platform.ts'
import { createStoreEye, type StoredVersions } from './store-eye.ts'

export const COLLECTION = '/api/v1/deployments'
export const VALUE = 'correct-horse-battery-staple'

interface World {
  readonly keys: KeyDump
  readonly versions: StoredVersions
}

export interface DeployedSecrets {
  readonly api: ApiClient
  create(name: string, secrets: readonly object[], more?: object): Promise<ApiAnswer>
  writeSecret(label: string, version: number): Promise<void>
  stored(name: string): Promise<StoredDeployment | undefined>
  credentialOf(label: string): Promise<StoredCredential | undefined>
  /** All keys of etcd except the server's own heartbeat. */
  storedKeys(): Promise<KeyDump>
  world(): Promise<World>
  expectNothingStored(send: () => Promise<ApiAnswer>, codes: readonly string[]): Promise<ApiAnswer>
}

export async function deployedSecrets(platform: Platform): Promise<DeployedSecrets> {
  const { address, rootToken } = await sharedSecretsStore()
  const { store } = platform.server
  const tenant = platform.acme.id
  const api = platform.api(platform.acme.token)
  const eye = createStoreEye({ address, rootToken, tenant })
  const storedKeys = async (): Promise<KeyDump> => {
    const dump = await dumpKeys(platform.config.etcd.endpoints[0] ?? '', `${platform.root}/`)
    return withoutServers(dump)
  }
  const world = async () => ({ keys: await storedKeys(), versions: await eye.everything() })
  return {
    api,
    storedKeys,
    world,
    create: (name, secrets, more = {}) =>
      api.post(COLLECTION, {
        kind: 'Deployment',
        name,
        image: platform.image,
        replicas: 0,
        secrets,
        ...more,
      }),
    async writeSecret(label, version) {
      const values = { PASSWORD: `v${version}-${VALUE}` }
      const answer = await api.put(`/api/v1/secrets/deployments/${label}`, { values })
      expect(answer.status, answer.text).toBe(200)
    },
    async stored(name) {
      await store.fresh()
      return store.get(inTenant(tenant as never, deployments, name))?.record
    },
    async credentialOf(label) {
      await store.fresh()
      return store.get(inTenant(tenant as never, credentials, label))?.record
    },
    async expectNothingStored(send, codes) {
      const before = await world()
      const answer = await send()
      expect(answer.codes).toEqual(codes)
      expect(await world()).toEqual(before)
      return answer
    },
  }
}

let serial = 0
/** Generates an unused name for a deployment or a label. */
export function named(): string {
  serial += 1
  return `s${serial}`
}

export const one = (name: string): string => `${COLLECTION}/${name}`

export const withValues = (label: string, more: object = {}) => ({
  name: 'DB',
  vault_path: `deployments/${label}`,
  values: { PASSWORD: VALUE },
  ...more,
})

export const alterationsOf = ({ body }: ApiAnswer, code: string) =>
  (body['alterations'] as { code: string }[]).filter((alteration) => alteration.code === code)
