// The broker's image checks with a real secrets store and a real registry: with the tenant's credential, without a
// credential, and while the secrets store is sealed.

import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { isTenantId, type TenantId } from '@holdfast/contract'
import {
  type Registry as Engine,
  type SecretsStore,
  sharedSecretsStore,
  startRegistry,
  uniqueName,
} from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRegistryClient } from '../adapters/registry/registry-client.ts'
import { provisionPlatform } from '../adapters/secrets-store/provision-platform.ts'
import { createSecretsReader } from '../adapters/secrets-store/secrets-reader.ts'
import { createSecretsStoreClient } from '../adapters/secrets-store/secrets-store-client.ts'
import { createSecretsWriter } from '../adapters/secrets-store/secrets-writer.ts'
import type { Registry } from '../ports/registry.ts'
import { secret } from '../ports/secret.ts'
import type { SecretsReader, SecretsWriter } from '../ports/secrets-store.ts'
import { createImageChecks } from './check-images.ts'

const PASSWORD = `canary-${randomUUID()}`
const namespaces = ['deployments', 'resources']

let store: SecretsStore
let engine: Engine
let registry: Registry
let writer: SecretsWriter
let secretsStore: SecretsReader
const closing: { close(): void }[] = []

beforeAll(async () => {
  store = await sharedSecretsStore()
  engine = await startRegistry({ htpasswd: { username: 'robot', password: PASSWORD } })
  registry = createRegistryClient({ allowList: [{ host: engine.host, plainHttp: true, allowAddress: true }] })
  const open = (auth: Parameters<typeof createSecretsStoreClient>[0]['auth']) => {
    const client = createSecretsStoreClient({ address: store.address, auth })
    closing.push(client)
    return client
  }
  const platform = await provisionPlatform(open({ token: secret(store.rootToken) }), { namespaces })
  if (platform.kind !== 'ok') throw new Error(platform.kind)
  writer = createSecretsWriter({ client: open(platform.api), namespaces })
  secretsStore = createSecretsReader({ client: open(platform.broker), namespaces })
})
afterAll(async () => {
  for (const client of [...closing, registry]) client.close()
  await engine.stop()
})

async function tenantWith(password: string): Promise<TenantId> {
  const tenant = randomUUID()
  if (!isTenantId(tenant)) throw new TypeError(tenant)
  await writer.provisionTenant(tenant)
  const document = new Map([
    ['username', secret('robot')],
    ['password', secret(password)],
  ])
  const written = await writer.writeVersion(tenant, { registryHost: engine.host }, document, 0)
  expect(written).toMatchObject({ kind: 'ok', version: 1 })
  return tenant
}

test("an image check succeeds with the tenant's credential, and fails with none or a wrong one", async () => {
  const broker = createImageChecks({ secretsStore, registry })
  const { reference, digest } = await engine.pushSampleImage(uniqueName('app'), '1')
  const [right, wrong] = [await tenantWith(PASSWORD), await tenantWith('wrong')]
  const answer = await broker.checkImage(right, reference, 1)
  expect(answer).toEqual({ kind: 'exists', digest })
  expect(inspect(answer)).not.toContain(PASSWORD)
  const refused = { kind: 'unreachable', cause: 'unauthorized' }
  expect(await broker.checkImage(right, reference, undefined)).toEqual(refused)
  expect(await broker.checkImage(wrong, reference, 1)).toEqual(refused)
  expect(await broker.checkImage(right, `${engine.host}/${uniqueName('never')}:1`, 1)).toEqual({
    kind: 'absent',
  })
})

test('an image check of a reference with tag and digest uses the digest', async () => {
  const broker = createImageChecks({ secretsStore, registry })
  const repository = uniqueName('app')
  const first = await engine.pushSampleImage(repository, '1')
  await engine.moveTag(repository, '1')
  const tenant = await tenantWith(PASSWORD)
  const answer = await broker.checkImage(tenant, `${first.reference}@${first.digest}`, 1)
  expect(answer).toEqual({ kind: 'exists', digest: first.digest })
})

test('reports unavailable credentials, makes no anonymous call instead, and does not cache the answer', async () => {
  let calls = 0
  const counting = {
    checkManifest: (...args: Parameters<Registry['checkManifest']>) => {
      calls += 1
      return registry.checkManifest(...args)
    },
  }
  const broker = createImageChecks({ secretsStore, registry: counting })
  const { reference } = await engine.pushSampleImage(uniqueName('app'), '1')
  const tenant = await tenantWith(PASSWORD)
  const unavailable = { kind: 'credentials_unavailable' }
  expect(await broker.checkImage(tenant, reference, 2)).toEqual(unavailable)
  await store.seal()
  expect(await broker.checkImage(tenant, reference, 1)).toEqual(unavailable)
  await store.unseal()
  expect(calls).toBe(0)
  expect((await broker.checkImage(tenant, reference, 1)).kind).toBe('exists')
})

test('an image check is cached for ten seconds per tenant and credential', async () => {
  let now = 0
  let calls = 0
  const counting = {
    checkManifest: (...args: Parameters<Registry['checkManifest']>) => {
      calls += 1
      return registry.checkManifest(...args)
    },
  }
  const broker = createImageChecks({ secretsStore, registry: counting, nowMs: () => now })
  const { reference } = await engine.pushSampleImage(uniqueName('app'), '1')
  const [mine, other] = [await tenantWith(PASSWORD), await tenantWith(PASSWORD)]
  await Promise.all(Array.from({ length: 20 }, () => broker.checkImage(mine, reference, 1)))
  expect(calls).toBe(1)
  await broker.checkImage(mine, reference, undefined)
  await broker.checkImage(other, reference, 1)
  expect(calls).toBe(3)
  now = 10_001
  await broker.checkImage(mine, reference, 1)
  expect(calls).toBe(4)
})

test.each([
  '',
  'https://registry.example.com/x:1',
  'user:pw@registry.example.com/x:1',
  'registry.example.com/x:1',
  'x',
])('an image check of %j contacts no registry', async (image) => {
  const broker = createImageChecks({ secretsStore, registry })
  const tenant = await tenantWith(PASSWORD)
  expect(await broker.checkImage(tenant, image, undefined)).toEqual({
    kind: 'unreachable',
    cause: 'not_allowed',
  })
})
