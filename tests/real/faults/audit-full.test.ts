// The disk of the secrets store's audit log is full, so the secrets store refuses every call. Operations with secrets
// fail and store nothing, other operations continue, and freeing disk space is the only fix needed.

import { join } from 'node:path'
import { openRealStore, type RealStore } from '@holdfast/server/adapters/secrets-store/real-store.fixture'
import { type SecretsStore, startSecretsStore, waitUntil } from '@holdfast/testkit'
import { mountTinyDisk, type TinyDisk } from '@holdfast/testkit/faults/tiny-disk'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import {
  aNodeOf,
  type DispatchWorld,
  openDispatchWorld,
  opened,
  secretEntry,
} from '@holdfast/testkit/secrets/dispatch-world'
import { createStoreEye } from '@holdfast/testkit/secrets/store-eye'
import { afterAll, beforeAll, expect, test } from 'vitest'

const DEPLOYMENTS = '/api/v1/deployments'
const VALUE = 'correct-horse-battery-staple'

let disk: TinyDisk
let store: SecretsStore
let real: RealStore
let platform: Platform
let world: DispatchWorld
/** Clock of the broker's retry delays, in milliseconds. */
let now = 0

beforeAll(async () => {
  disk = mountTinyDisk(8_192)
  store = await startSecretsStore()
  await auditOnlyTo(join(disk.path, 'audit.log'))
  real = await openRealStore(store)
  platform = await startPlatform({ secretsStore: store })
  world = await openDispatchWorld({ real, nowMs: () => now })
})
afterAll(async () => {
  world?.close()
  await platform?.stop()
  real?.close()
  await store?.stop()
  disk?.remove()
})

const asOperator = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${store.address}/v1/sys/${path}`, {
    method,
    headers: { 'x-vault-token': store.rootToken },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

async function auditOnlyTo(file: string): Promise<void> {
  const enabled = await asOperator('PUT', 'audit/tiny', { type: 'file', options: { file_path: file } })
  const left = await asOperator('DELETE', 'audit/file')
  expect([enabled.status, left.status]).toEqual([204, 204])
}

/** Waits until the audit log is full: a call fails because its log line no longer fits. */
const nothingIsLogged = () =>
  waitUntil(async () => !(await asOperator('GET', 'mounts')).ok, { what: 'the audit log is full' })

test('while the audit log is full, operations with secrets fail and store nothing, others continue, and free space heals it', async () => {
  const api = platform.api(platform.acme.token)
  const eye = createStoreEye({ ...store, tenant: platform.acme.id })
  const create = (name: string, material?: object) =>
    api.post(DEPLOYMENTS, {
      kind: 'Deployment',
      name,
      image: platform.image,
      replicas: 0,
      ...(material && { secrets: [{ name: 'DB', vault_path: `deployments/${name}`, ...material }] }),
    })
  const values = { values: { PASSWORD: VALUE } }
  const generate = { generate: { keys: ['PASSWORD'] } }
  const before = await create('before', values)
  expect(before.status, before.text).toBe(201)
  const tenant = await world.tenant()
  const node = await aNodeOf(world, tenant)
  await world.put(tenant, 'db', { password: VALUE })
  const ask = await world.place(node, { secrets: [secretEntry('DB', 'db')] })

  disk.fill()
  await nothingIsLogged()
  const held = await dumpTenants(platform)
  const refused = await Promise.all([
    create('with-values', values),
    create('generated', generate),
    api.put('/api/v1/secrets/resources/shared', values),
  ])
  for (const { status, codes, text } of refused) {
    expect([status, codes]).toEqual([503, ['secrets_store_unavailable']])
    expect(text).not.toContain(VALUE)
  }
  expect(await dumpTenants(platform)).toEqual(held)
  const unresolved = { error: 'secret_unresolved', about: 'DB: store_unavailable' }
  expect(await world.broker.sealEnvironment(ask)).toEqual(unresolved)
  expect((await create('plain')).status).toBe(201)
  expect((await api.get(`${DEPLOYMENTS}/before`)).status).toBe(200)
  expect((await api.get('/readyz')).status).toBe(200)

  disk.makeRoom()
  expect(await eye.everything()).toEqual({ 'deployments/before': [1] })
  for (const { status, text } of [await create('with-values', values), await create('generated', generate)])
    expect(status, text).toBe(201)
  now += 31_000
  const resolved = await world.broker.sealEnvironment({ ...ask, attempt: 'attempt-2' })
  expect(opened(node, resolved).environment).toEqual({ DB_password: VALUE })
})
