// Clients use deployments while their owner changes them: new images, more and fewer replicas, a restart, a drained machine, an
// earlier revision, images that do not run, canaries. Requests go through the router of every node, over both reused and new
// connections, from the first test to the last, and none fails.

import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { placementsOf } from '@holdfast/testkit/scenarios/lab-reads'
import { nodeCalled } from '@holdfast/testkit/scenarios/node-reads'
import { deployRouted, pushPage } from '@holdfast/testkit/scenarios/routed-page'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { startTraffic, type Traffic } from '@holdfast/testkit/scenarios/traffic'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deployGoodRevisions, testBrokenImages } from './traffic/broken-images.ts'
import { deployTrial, testCanaries, testDisturbedCanaries } from './traffic/canaries.ts'
import { testLife } from './traffic/life.ts'

const ROLLOUTS = inRun(3, 20)
const PER_SECOND = inRun(60, 200)
const PAGE = { tenant: 'acme', name: 'shop', replicas: 3 }
const SHOP = '/api/v1/deployments/shop'

let cluster: LabPlatform
let traffic: Traffic

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 3, globex: 1 },
    offers: {
      'acme-1': { labels: { disk: 'ssd' } },
      'acme-2': { labels: { disk: 'hdd' } },
      'acme-3': { labels: { disk: 'ssd' }, cpuMillis: 500 },
    },
  })
  // Routers are reloaded when routes come and go, and may then close new connections. So all routes are there from the start.
  // docs/design/routing.md#reloads
  await Promise.all([deployRouted(cluster, PAGE), deployTrial(cluster), deployGoodRevisions(cluster)])
  traffic = startTraffic(cluster, 'acme')
  await traffic.begin('shop', PER_SECOND)
})
afterAll(async () => {
  await traffic?.stop()
  await cluster?.stop()
})

const theCluster = (): LabPlatform => cluster
const theTraffic = (): Traffic => traffic

/** Waits until the revision runs on the desired number of replicas, and no replica of another revision is left. */
async function untilSettled(revision: unknown, replicas: number): Promise<void> {
  await waitUntil(
    async () => {
      const placed = await placementsOf(cluster.api('acme'), 'shop')
      const { body } = await cluster.api('acme').get(SHOP)
      const { phase, runningRevision } = Object(body['status'])
      return (
        phase === 'Running' &&
        runningRevision === revision &&
        placed.length === replicas &&
        placed.every(({ state }) => state === 'ready')
      )
    },
    { what: `${replicas} replicas of revision ${String(revision)} run`, timeoutMs: 120_000 },
  )
}

async function put(change: object): Promise<unknown> {
  const { status, body, text } = await cluster.api('acme').put(SHOP, change)
  expect(status, text).toBe(200)
  return Object(body['deployment']).revision
}

const unnoticed = (fewestReady: number): void => traffic.expectUnnoticed('shop', fewestReady)

describe('a deployment', () => testLife(theCluster))

test('clients of another deployment do not notice the life of one', () => unnoticed(3))

test(`rolls out ${ROLLOUTS} new images one after another without a failed request`, async () => {
  const images = await Promise.all(['one', 'two'].map((page) => pushPage(cluster, PAGE, page, page)))
  for (let round = 1; round <= ROLLOUTS; round += 1) {
    await untilSettled(await put({ image: images[round % 2] }), 3)
    unnoticed(3)
  }
  expect([...traffic.resultOf('shop').texts.keys()].sort()).toEqual(['one', 'shop', 'two'])
})

test('scales up and down without restarting the other replicas', async () => {
  const before = await placementsOf(cluster.api('acme'), 'shop')
  await untilSettled(await put({ replicas: 5 }), 5)
  expect(await placementsOf(cluster.api('acme'), 'shop')).toEqual(expect.arrayContaining(before))
  await untilSettled(await put({ replicas: 3 }), 3)
  expect(await placementsOf(cluster.api('acme'), 'shop')).toEqual(before)
  unnoticed(3)
})

test('restarts all replicas without a failed request', async () => {
  const { status, body } = await cluster.api('acme').post(`${SHOP}/restart`, undefined)
  expect(status).toBe(200)
  await untilSettled(Object(body['deployment']).revision, 3)
  unnoticed(3)
})

test('rolls back to an earlier revision without a failed request', async () => {
  const before = await placementsOf(cluster.api('acme'), 'shop')
  const { status, body, text } = await cluster.api('acme').post(`${SHOP}/rollback`, { revision: 1 })
  expect(status, text).toBe(200)
  await untilSettled(Object(body['deployment']).revision, 3)
  const after = await placementsOf(cluster.api('acme'), 'shop')
  const kept = after.filter(({ containerId }) => before.some((one) => one.containerId === containerId))
  expect(kept).toEqual([])
  unnoticed(3)
})

describe('beside each other', { concurrent: true }, () => {
  testBrokenImages(theCluster, theTraffic)
  testCanaries(theCluster, theTraffic)
})

testDisturbedCanaries(theCluster, theTraffic)

test('drains a machine and places on it again without a failed request', async () => {
  const api = cluster.api('acme')
  const { id } = await nodeCalled(cluster, 'acme-2')
  expect((await api.post(`/api/v1/nodes/${id}/drain`, undefined)).status).toBe(202)
  await waitUntil(
    async () => {
      const placed = await placementsOf(api, 'shop')
      return placed.length === 3 && placed.every(({ nodeName }) => nodeName !== 'acme-2')
    },
    { what: 'nothing is left on acme-2', timeoutMs: 120_000 },
  )
  unnoticed(3)
  expect((await api.post(`/api/v1/nodes/${id}/uncordon`, undefined)).status).toBe(200)
})

test('loses no request over all changes', async () => {
  const results = await traffic.stop()
  for (const [name, { sent, answered, failures, reconnects, slowestMs }] of results) {
    console.log(
      `${name}: ${sent} requests over three routers, ${failures.length} failed, ${reconnects} repeated on a new connection, slowest ${slowestMs} ms`,
    )
    expect(answered, name).toBe(sent)
  }
  expect(results.size).toBe(7)
})
