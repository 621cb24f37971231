// Changes to a deployment under load lose no request: a new image, more and fewer replicas, a restart, a drained machine,
// an earlier revision. The load goes through the router of every node, over both reused and new connections.

import { describeFailures, type Load, type LoadResult, startLoad, waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { type ReadyWatch, watchReady } from '@holdfast/testkit/scenarios/watch-ready'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROLLOUTS = inRun(4, 20)
const PER_SECOND = 200
const HOST = 'shop.example'
const SHOP = '/api/v1/deployments/shop'
const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'], interval: '5s' }

let cluster: LabPlatform
let images: readonly string[]
let load: Load
let ready: ReadyWatch

beforeAll(async () => {
  cluster = await startLabPlatform({ nodesPerTenant: { acme: 3, globex: 1 } })
  images = await Promise.all(['one', 'two'].map(pushPage))
  const body = {
    kind: 'Deployment',
    name: 'shop',
    image: images[0],
    replicas: 3,
    healthCheck: CHECK,
    routes: [{ host: HOST, path: '/', port: 8080 }],
  }
  expect((await cluster.api('acme').post('/api/v1/deployments', body)).status).toBe(201)
  await untilPhase(cluster.api('acme'), 'shop', 'Running')
  ready = watchReady(cluster.platform.server.store, cluster.platform.acme.id, 'shop')
  const targets = cluster.lab.nodes.filter(({ tenant }) => tenant === 'acme').map(edgeOf)
  await waitUntil(async () => (await Promise.all(targets.map(answers))).every(Boolean), {
    what: 'every router serves the shop',
  })
  load = startLoad({ targets, host: HOST, perSecond: PER_SECOND })
})
afterAll(async () => {
  ready?.stop()
  await load?.stop()
  await cluster?.stop()
})

const edgeOf = ({ address }: { readonly address: string }): string => `http://${address}:80`

async function pushPage(page: string): Promise<string> {
  const { reference } = await cluster.lab.registry.pushBusyboxImage('acme/shop', page, { page })
  return reference
}

async function answers(target: string): Promise<boolean> {
  const probe = startLoad({ targets: [target], host: HOST, perSecond: 20 })
  await waitUntil(() => probe.result().answered + probe.result().failures.length > 0, { what: 'an answer' })
  return (await probe.stop()).failures.length === 0
}

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
    { what: `${replicas} replicas of revision ${String(revision)} run`, timeoutMs: 90_000 },
  )
}

async function put(change: object): Promise<unknown> {
  const { status, body, text } = await cluster.api('acme').put(SHOP, change)
  expect(status, text).toBe(200)
  return Object(body['deployment']).revision
}

/** Number of requests that had been sent at the time of the previous check. */
let counted = 0
function unnoticed(lowestReady: number): void {
  const seen: LoadResult = load.result()
  expect(seen.failures, describeFailures(seen.failures)).toEqual([])
  expect(seen.sent - counted).toBeGreaterThan(0)
  counted = seen.sent
  expect(ready.lowest()).toBeGreaterThanOrEqual(lowestReady)
}

test(`rolls out ${ROLLOUTS} new images one after another without a failed request`, async () => {
  for (let round = 1; round <= ROLLOUTS; round += 1) {
    const revision = await put({ image: images[round % 2] })
    await untilSettled(revision, 3)
    unnoticed(3)
  }
  expect([...load.result().texts.keys()].sort()).toEqual(['one', 'two'])
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

test('drains a machine and places on it again without a failed request', async () => {
  const api = cluster.api('acme')
  const { body } = await api.get('/api/v1/nodes')
  const node = Object.values(Object(body['items'])).find((each) => Object(each).name === 'acme-2')
  const id = String(Object(node).id)
  expect((await api.post(`/api/v1/nodes/${id}/drain`, undefined)).status).toBe(202)
  await waitUntil(
    async () => {
      const placed = await placementsOf(api, 'shop')
      return placed.length === 3 && placed.every(({ nodeName }) => nodeName !== 'acme-2')
    },
    { what: 'nothing is left on acme-2', timeoutMs: 60_000 },
  )
  unnoticed(3)
  expect((await api.post(`/api/v1/nodes/${id}/uncordon`, undefined)).status).toBe(200)
})

test('rolls back to an earlier revision without a failed request', async () => {
  const { status, body, text } = await cluster.api('acme').post(`${SHOP}/rollback`, { revision: 2 })
  expect(status, text).toBe(200)
  await untilSettled(Object(body['deployment']).revision, 3)
  unnoticed(3)
})

test('loses no request over all changes', async () => {
  const { sent, answered, failures, reconnects, slowestMs } = await load.stop()
  console.log(
    `${sent} requests at ${PER_SECOND} a second over three routers: ${failures.length} failed, ${reconnects} repeated on a new connection, slowest ${slowestMs} ms`,
  )
  expect(answered).toBe(sent)
})
