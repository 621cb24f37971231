// An image whose registry is unavailable at admission: the digest is pinned when the registry is back, once for all
// replicas. The tests use a real registry; time limits are a hundredth of the defaults.

import type { DeploymentSpec, TenantId } from '@holdfast/contract'
import { createRegistryClient } from '@holdfast/server/adapters/registry/registry-client'
import { createImageChecks } from '@holdfast/server/broker/check-images'
import { startDigestFixing } from '@holdfast/server/loops/fix-digests'
import type { Broker } from '@holdfast/server/ports/broker'
import { deployments } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { type Registry, startRegistry, uniqueName, waitUntil } from '@holdfast/testkit'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const REST_MS = 300

let registry: Registry
beforeAll(async () => {
  registry = await startRegistry()
})
afterAll(() => registry.stop())

interface ResolveRequest {
  readonly tenant: TenantId
  readonly image: string
  readonly kind: string
}

/** Starts a store, placement controllers and the digest loop, and records the loop's requests to the registry. */
async function running() {
  const { store, close } = await openTestStore({ root: `/${uniqueName('digest')}` })
  const controllers = world.startControllers(store)
  const client = createRegistryClient({
    allowList: [{ host: registry.host, plainHttp: true, allowAddress: true }],
    deadlineMs: 200,
  })
  const noSecrets = { readVersion: async () => ({ kind: 'absent' as const }) }
  // The clock of the image checks runs a hundred times as fast, so that cached results expire early enough.
  const real = createImageChecks({
    secretsStore: noSecrets,
    registry: client,
    nowMs: () => performance.now() * 100,
  })
  const requests: ResolveRequest[] = []
  const late = { until: Promise.resolve() }
  const broker: Pick<Broker, 'checkImage'> = {
    async checkImage(tenant, image, version) {
      const answer = await real.checkImage(tenant, image, version)
      requests.push({ tenant, image, kind: answer.kind })
      await late.until
      return answer
    },
  }
  const errors: unknown[] = []
  const { leadership } = controllers
  const fixing = startDigestFixing(
    { store, clock, leadership, broker, random: Math.random, onError: (error) => errors.push(error) },
    { retryMs: REST_MS, checkMs: 10 },
  )
  onTestFinished(async () => {
    registry.resume()
    await fixing.stop()
    await controllers.stop()
    client.close()
    close()
  })
  return { store, requests, errors, late }
}

const digestOf = (store: Store, tenant: TenantId, name: string) =>
  store.get(inTenant(tenant, deployments, name))?.record.digest

const admitted = (store: Store, tenant: TenantId, name: string, spec: Partial<DeploymentSpec>) =>
  world.put(store, tenant, { ...world.deploymentOf(name, spec), digest: null })

async function imageEvents(store: Store, tenant: TenantId) {
  return (await world.eventsOf(store, tenant)).filter(({ type }) => type.startsWith('image.'))
}

test('after a registry outage all replicas get one digest, with one event, in the same revision', async () => {
  const { store, requests, errors } = await running()
  const { reference: image, digest } = await registry.pushSampleImage(uniqueName('app'), '1.0')
  registry.pause()
  const tenant = await world.addTenant(store)
  await world.addNodes(store, tenant, world.aNode(uniqueName('n')))
  const stored = await admitted(store, tenant, 'web', { image, replicas: 3 })
  await waitUntil(() => requests.length >= 2, { what: 'two requests have failed' })
  expect(digestOf(store, tenant, 'web')).toBeNull()
  expect(world.runningOf(store, tenant, stored.uid)).toEqual([])
  registry.resume()
  await waitUntil(() => digestOf(store, tenant, 'web') === digest, { what: 'the digest is fixed' })
  await expect.poll(() => world.runningOf(store, tenant, stored.uid).length).toBe(3)
  const after = store.get(inTenant(tenant, deployments, 'web'))?.record
  expect(after).toEqual({ ...stored, digest })
  expect(await imageEvents(store, tenant)).toMatchObject([
    { type: 'image.digest_fixed', subject: { kind: 'Deployment', name: 'web' }, data: { image, digest } },
  ])
  expect(errors).toEqual([])
})

test('an image that the registry does not have is reported once, and pinned when it is pushed', async () => {
  const { store, requests } = await running()
  const repository = uniqueName('app')
  const tenant = await world.addTenant(store)
  await admitted(store, tenant, 'web', { image: `${registry.host}/${repository}:2.0` })
  // One event reports the missing image, even if several registry requests time out before the first answer.
  const isReported = async () => (await imageEvents(store, tenant)).length > 0
  await waitUntil(isReported, { what: 'it is reported' })
  const before = requests.length
  await waitUntil(() => requests.length >= before + 2, { what: 'two more requests were sent' })
  expect(await imageEvents(store, tenant)).toMatchObject([{ type: 'image.digest_missing' }])
  const { digest } = await registry.pushSampleImage(repository, '2.0')
  await waitUntil(() => digestOf(store, tenant, 'web') === digest, { what: 'the digest is fixed' })
  const emitted = (await imageEvents(store, tenant)).map(({ type }) => type)
  expect(emitted).toEqual(['image.digest_missing', 'image.digest_fixed'])
})

test('a resolved digest of an image that is no longer used changes nothing', async () => {
  const { store, requests, late } = await running()
  const tenant = await world.addTenant(store)
  const { reference } = await registry.pushSampleImage(uniqueName('app'), '1.0')
  const other = `${registry.host}/${uniqueName('never')}:1.0`
  let release = (): void => {}
  late.until = new Promise((resolve) => {
    release = resolve
  })
  const stored = await admitted(store, tenant, 'web', { image: reference })
  await waitUntil(() => requests.length >= 1, { what: 'the registry has answered' })
  await world.revise(store, tenant, stored, { image: other })
  release()
  await waitUntil(() => requests.some(({ image }) => image === other), { what: 'the new image is requested' })
  expect(digestOf(store, tenant, 'web')).toBeNull()
  const emitted = (await imageEvents(store, tenant)).map(({ type }) => type)
  expect(emitted).not.toContain('image.digest_fixed')
})

test('one image of many deployments is resolved once, and a tenant with many images does not delay others', async () => {
  const { store, requests } = await running()
  const [greedy, modest] = [await world.addTenant(store), await world.addTenant(store)]
  const { reference: image, digest } = await registry.pushSampleImage(uniqueName('shared'), '1')
  registry.pause()
  const images = Array.from({ length: 40 }, () => `${registry.host}/${uniqueName('slow')}:1`)
  for (const [index, image] of images.entries()) await admitted(store, greedy, `app-${index}`, { image })
  await waitUntil(() => requests.length >= 3, { what: 'the tenant with many images is being served' })
  const names = ['one', 'two', 'three']
  for (const name of names) await admitted(store, modest, name, { image })
  const before = requests.length
  const first = await waitUntil(() => requests.find(({ tenant }) => tenant === modest), {
    what: 'the other tenant is served',
  })
  // Counts requests instead of time: without fairness, the forty images of the greedy tenant would be requested first.
  expect(requests.indexOf(first) - before).toBeLessThan(15)
  registry.resume()
  const digests = () => names.map((name) => digestOf(store, modest, name))
  await waitUntil(() => digests().every((one) => one === digest), { what: 'the digest is fixed for all' })
  expect(requests.filter((one) => one.image === image && one.kind === 'exists')).toHaveLength(1)
})
