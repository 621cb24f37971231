// Secrets after a deployment, a secret or a tenant is deleted during a rotation, after a rollback to a revision whose
// secret is gone, and after a node enrolled with a new key.

import { type Consumer, consumerOf } from '@holdfast/contract'
import { openRealStore } from '@holdfast/server/adapters/secrets-store/real-store.fixture'
import { credentials, nodes } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { sharedSecretsStore, uniqueName } from '@holdfast/testkit'
import { dumpKeys } from '@holdfast/testkit/platform/dump-keys'
import { aNodeOf, openDispatchWorld, opened, secretEntry } from '@holdfast/testkit/secrets/dispatch-world'
import { type RotatingWorld, startRotatingWorld } from '@holdfast/testkit/secrets/rotating-world'
import { at, DEPLOYMENTS } from '@holdfast/testkit/secrets/secrets-world'
import { createStoreEye } from '@holdfast/testkit/secrets/store-eye'
import { write } from '@holdfast/testkit/session/session-records'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

let world: RotatingWorld
beforeAll(async () => {
  world = await startRotatingWorld()
})
afterAll(() => world.stop())

const NEW = { values: { password: 'the second one' } }
const live = (label: string) => world.eye.liveVersions(`resources/${label}`)
const rotationOf = (label: string) => world.credential(label)?.rotation

async function step(name: string, phase: string, more: object = {}): Promise<void> {
  const answer = await world.rotate(name, { phase, ...more })
  expect(answer.status, answer.text).toBe(200)
}

async function remove(name: string): Promise<void> {
  expect((await world.api.delete(`${DEPLOYMENTS}/${name}`)).status).toBe(202)
  await expect.poll(() => world.deployment(name), { timeout: 20_000 }).toBeUndefined()
}

test('when the deployment that began a rotation is deleted, another consumer continues it', async () => {
  const label = uniqueName('db')
  await world.write(label)
  const [first, other] = [uniqueName('a'), uniqueName('b')]
  for (const name of [first, other]) await world.deploy(name, [label], 1)
  for (const name of [first, other]) await world.settled(name)
  await step(first, 'stage', NEW)
  for (const phase of ['overlap', 'cutover']) await step(first, phase)
  await remove(first)
  const proved = async () => (await world.rotate(other, { phase: 'retire' })).status
  await expect.poll(proved, { timeout: 20_000, interval: 200 }).toBe(200)
  expect(world.credential(label)).toMatchObject({ consumers: [consumerOf('deployment', other)], initial: 2 })
  expect(await live(label)).toEqual([2])
})

test('when the only consumer is deleted, the next one to refer to the path may end the rotation', async () => {
  const label = uniqueName('db')
  await world.write(label)
  const [first, next] = [uniqueName('a'), uniqueName('b')]
  await world.deploy(first, [label], 0)
  await step(first, 'stage', NEW)
  await step(first, 'overlap')
  await remove(first)
  await world.deploy(next, [label], 0)
  expect(world.deployment(next)?.pins?.[label] ?? world.credential(label)?.initial).toBe(1)
  await step(next, 'abort')
  expect([rotationOf(label), await live(label)]).toEqual([undefined, [1]])
})

test('a secret in rotation without references is deleted with both versions', async () => {
  const label = uniqueName('db')
  await world.write(label)
  const name = uniqueName('a')
  await world.deploy(name, [label], 0)
  await step(name, 'stage', NEW)
  expect((await world.api.delete(at(label))).codes).toEqual(['secret_in_use'])
  await remove(name)
  expect((await world.api.delete(at(label))).status).toBe(202)
  await world.store.fresh()
  expect([world.credential(label), await live(label)]).toEqual([undefined, []])
})

test('a consumer of an unknown kind keeps the secret and blocks the end of a rotation', async () => {
  const label = uniqueName('db')
  await world.write(label)
  const name = uniqueName('a')
  await world.deploy(name, [label], 0)
  const address = inTenant(world.tenant, credentials, label)
  const before = world.credential(label)
  if (before === undefined) throw new Error('no credential')
  const job = 'cron/cron_1' as Consumer
  await write(world.store, (transaction) =>
    transaction.put(address, { ...before, consumers: [...before.consumers, job] }),
  )
  await step(name, 'stage', NEW)
  for (const phase of ['overlap', 'cutover']) await step(name, phase)
  const retired = await world.rotate(name, { phase: 'retire' })
  expect([retired.status, retired.text]).toEqual([409, expect.stringContaining(job)])
  await remove(name)
  const deleted = await world.api.delete(at(label))
  expect(deleted.codes).toEqual(['secret_in_use'])
  expect(deleted.text).toContain(job)
  expect(world.credential(label)?.consumers).toEqual([job])
})

test('a rollback to a revision whose secret is gone is accepted, and waits until the secret is written again', async () => {
  const label = uniqueName('db')
  await world.write(label)
  const name = uniqueName('a')
  await world.deploy(name, [label], 0)
  await world.api.put(`${DEPLOYMENTS}/${name}`, { secrets: [] })
  await expect.poll(async () => (await world.api.delete(at(label))).status).toBe(202)
  const back = await world.api.post(`${DEPLOYMENTS}/${name}/rollback`, { revision: 1 })
  expect(back.status, back.text).toBe(200)
  await world.store.fresh()
  expect(world.credential(label)).toMatchObject({
    consumers: [consumerOf('deployment', name)],
    versions: [],
    initial: null,
  })
  await world.write(label)
  await world.store.fresh()
  expect([world.credential(label)?.initial, world.deployment(name)?.pins]).toEqual([2, undefined])
  expect(await live(label)).toEqual([2])
})

test('after a node enrolls again, environments are sealed for its new key only', async () => {
  const real = await openRealStore()
  const own = await openDispatchWorld({ real })
  onTestFinished(() => {
    own.close()
    real.close()
  })
  const tenant = await own.tenant()
  const [node, other] = [await aNodeOf(own, tenant), await aNodeOf(own, tenant)]
  await own.put(tenant, 'db', { password: 'a password' })
  const ask = await own.place(node, { secrets: [secretEntry('DB', 'db')] })
  const [address, enrolled] = [node, other].map(({ nodeId }) => inTenant(tenant, nodes, nodeId))
  if (address === undefined || enrolled === undefined) throw new Error('no address')
  await write(own.store, (transaction) => {
    const [before, after] = [transaction.get(address), transaction.get(enrolled)]
    if (before === undefined || after === undefined) throw new Error('no node')
    const { encryptionKey } = after
    transaction.put(address, { ...before, encryptionKey, generation: before.generation + 1 })
  })
  const answer = await own.broker.sealEnvironment(ask)
  expect(() => opened(node, answer)).toThrow()
  expect(opened(other, answer).environment).toEqual({ DB_password: 'a password' })
})

test('a deleted tenant with secrets, in rotation or not, leaves nothing in either store', async () => {
  const { platform } = world
  const admin = platform.api()
  const created = await admin.post('/api/v1/tenants', { name: uniqueName('leaving') })
  const id = String(created.body['id'])
  const headers = { 'x-tenant-id': id }
  const secrets = [{ name: 'S', vault_path: 'resources/db', values: { password: 'first' } }]
  const body = { kind: 'Deployment', name: 'web', image: platform.image, replicas: 0, secrets }
  expect((await admin.post(DEPLOYMENTS, body, headers)).status).toBe(201)
  const stage = { phase: 'stage', ...NEW }
  expect((await admin.post(`${DEPLOYMENTS}/web/secrets/rotate`, stage, headers)).status).toBe(200)
  expect((await admin.delete(`/api/v1/tenants/${id}`)).status).toBe(202)
  await expect
    .poll(async () => (await admin.get(`/api/v1/tenants/${id}`)).status, { timeout: 20_000 })
    .toBe(404)
  const left = await dumpKeys(platform.config.etcd.endpoints[0] ?? '', `${platform.root}/`)
  expect(Object.keys(left).filter((key) => key.includes(id))).toEqual([])
  const { address, rootToken } = await sharedSecretsStore()
  expect(await createStoreEye({ address, rootToken, tenant: id }).everything()).toEqual({})
})
