// Canaries under load on real machines: a canary that fails while it is observed, rounds in which agents are killed and
// servers replaced, and the stated share of requests. Requests go through the router of every node; none may fail.

import { describeFailures, type LabNode, type Load, startLoad, waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** `npm run long` has the full size; CI runs the same code with fewer rounds and requests, and a canary that fails earlier. */
const ROUNDS = inRun(1, 20)
const REQUESTS = inRun(1_000, 20_000)
const [LOWEST, HIGHEST] = [inRun(6, 8) / 100, inRun(14, 12) / 100]
const FAILS_AFTER_MS = inRun(5_000, 30_000)
const PER_SECOND = 200
const HOST = 'shop.example'
const SHOP = '/api/v1/deployments/shop'

let cluster: LabPlatform
let next: string
let targets: readonly string[]

beforeAll(async () => {
  cluster = await startLabPlatform({ nodesPerTenant: { acme: 3, globex: 1 } })
  const [first, second] = await Promise.all(['one', 'two'].map(pushPage))
  next = second ?? ''
  // Without a health check, the watch window after a rollout is a third as long; no canary starts before its end.
  const body = {
    kind: 'Deployment',
    name: 'shop',
    image: first,
    replicas: 3,
    routes: [{ host: HOST, path: '/', port: 8080 }],
  }
  const created = await cluster.api('acme').post('/api/v1/deployments', body)
  expect(created.status, created.text).toBe(201)
  await untilPhase(cluster.api('acme'), 'shop', 'Running')
  targets = cluster.lab.nodes
    .filter(({ tenant }) => tenant === 'acme')
    .map(({ address }) => `http://${address}:80`)
})
afterAll(() => cluster?.stop())

async function pushPage(page: string): Promise<string> {
  const { reference } = await cluster.lab.registry.pushBusyboxImage('acme/shop', page, { page })
  return reference
}

const canaryOf = async (): Promise<{ readonly [member: string]: unknown }> =>
  Object((await cluster.api('acme').get(SHOP)).body['canary'])

async function untilCanary(phase: string, timeoutMs = 120_000): Promise<void> {
  await waitUntil(async () => (await canaryOf())['phase'] === phase, {
    what: `the canary is ${phase}`,
    timeoutMs,
  })
}

/** Starts a canary as soon as the rollout before it has passed its watch window. */
async function start(change: object, over: object = {}): Promise<void> {
  const sent = { change, replicas: 1, weight: 10, observe: '10s', ...over }
  await waitUntil(async () => (await cluster.api('acme').post(`${SHOP}/canary`, sent)).status === 201, {
    what: 'the deployment accepts a canary',
    timeoutMs: 120_000,
  })
}

const placed = () => placementsOf(cluster.api('acme'), 'shop')

/** Waits until only replicas of the deployment are left, all of the same revision. */
async function untilOver(): Promise<void> {
  await waitUntil(
    async () => {
      const all = await placed()
      const isOne = new Set(all.map(({ revision }) => revision)).size === 1
      return all.length === 3 && isOne && all.every(({ state, canary }) => state === 'ready' && !canary)
    },
    { what: 'three replicas of one revision are ready', timeoutMs: 120_000 },
  )
}

const countOf = (load: Load, page: string): number => load.result().texts.get(page) ?? 0

test(`aborts a canary that fails after ${FAILS_AFTER_MS / 1000} s, and no other request fails`, async () => {
  await start(
    { environment: { PAGE: 'failing' }, healthCheck: failingCheck() },
    { weight: 20, observe: '10m' },
  )
  await untilCanary('observing')
  const load = startLoad({ targets, host: HOST, perSecond: PER_SECOND })
  const since = Date.now()
  await untilCanary('aborted', 180_000)
  expect(Date.now() - since).toBeGreaterThan(FAILS_AFTER_MS / 2)
  await untilOver()
  const { failures, sent } = await load.stop()
  console.log(`${sent} requests while the canary failed: ${failures.length} failed`)
  expect(failures, describeFailures(failures)).toEqual([])
  expect(await canaryOf()).toMatchObject({ reason: 'unhealthy', failures: [{ replica: 1 }] })
})

/** Passes for a while after the first check, and fails from then on. The container itself keeps serving. */
function failingCheck(): object {
  const since = '[ -e /since ] || date +%s > /since'
  const isYoung = `[ $(( $(date +%s) - $(cat /since) )) -lt ${FAILS_AFTER_MS / 1000} ]`
  return { type: 'exec', command: ['sh', '-c', `${since}; ${isYoung}`], interval: '5s', retries: 3 }
}

/** The agent of a node is killed, or the server with all sessions and shards is replaced. */
async function disturb(round: number, node: LabNode): Promise<void> {
  if (Math.floor(round / 2) % 2 === 0) await cluster.lab.restartAgent(node, 'kill')
  else await cluster.replaceGateway()
}

test(`loses no request in ${ROUNDS} rounds with killed agents and replaced servers`, async () => {
  const acme = cluster.lab.nodes.filter(({ tenant }) => tenant === 'acme')
  let total = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const node = acme[round % acme.length]
    if (node === undefined) throw new Error('no node')
    const image = await pushPage(`round-${round}`)
    await start({ image }, { observe: '1s', weight: 30 })
    await cluster.lab.restartAgent(node, 'kill')
    await untilCanary('ready')
    const step = round % 2 === 0 ? 'abort' : 'promote'
    const load = startLoad({ targets, host: HOST, perSecond: PER_SECOND })
    await disturb(round, node)
    const sent = step === 'promote' ? {} : undefined
    const ended = await cluster.api('acme').post(`${SHOP}/canary/${step}`, sent)
    expect(ended.status, ended.text).toBe(200)
    await untilOver()
    const { failures, answered } = await load.stop()
    expect(failures, `round ${round}: ${describeFailures(failures)}`).toEqual([])
    expect(answered).toBeGreaterThan(0)
    expect((await canaryOf())['phase']).toBe(step === 'promote' ? undefined : 'aborted')
    total += answered
  }
  console.log(`${ROUNDS} rounds with ${total} requests: 0 failed`)
})

test(`sends a tenth of ${REQUESTS} requests to the canary, and a promotion keeps its replica`, async () => {
  await start({ image: next }, { observe: '1s' })
  await untilCanary('ready')
  const tried = (await placed()).filter(({ canary }) => canary === true)
  expect(tried).toHaveLength(1)
  const load = startLoad({ targets, host: HOST, perSecond: PER_SECOND })
  await waitUntil(() => load.result().answered >= REQUESTS, {
    what: 'all requests are answered',
    timeoutMs: (REQUESTS / PER_SECOND) * 3_000,
  })
  const share = countOf(load, 'two') / load.result().answered
  console.log(`${(100 * share).toFixed(2)} % of ${load.result().answered} requests reached the canary`)
  expect(share).toBeGreaterThan(LOWEST)
  expect(share).toBeLessThan(HIGHEST)
  expect((await cluster.api('acme').post(`${SHOP}/canary/promote`, {})).status).toBe(200)
  await untilOver()
  const { failures } = await load.stop()
  expect(failures, describeFailures(failures)).toEqual([])
  const containers = (await placed()).map(({ containerId }) => containerId)
  expect(containers).toContain(tried[0]?.containerId)
})
