// Machines disappear while clients use the containers. If one or two machines disappear, their replicas are replaced on
// other nodes and only requests to the dead machines fail. If many nodes of several tenants disappear at once, a network
// failure is more likely, so no node is declared failed for a while.

import { type Load, type LoadResult, startLoad, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { isOn } from '@holdfast/testkit/scenarios/check-history'
import { containersOn, eventsOf, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { emittedAt, nodeCalled, readyOn, untilStatus } from '@holdfast/testkit/scenarios/node-reads'
import { deployRouted, edgeOf, hostOf, nodesOf, untilServed } from '@holdfast/testkit/scenarios/routed-page'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PER_SECOND = LONG ? 200 : 60
const TIMEOUT_MS = 20_000
/** Time limit from the moment a node is declared failed until its replicas are replaced, ready and routed to. */
const REPLACED_MS = 30_000
const LIVENESS = LONG ? TIMES : { ...TIMES, massHoldSeconds: 6 }
const FAILED_MS = LIVENESS.failedSeconds * 1000
const HELD_MS = FAILED_MS + LIVENESS.massHoldSeconds * 1000
/**
 * Tolerance between clocks: heartbeat gaps use a monotonic clock, but events carry wall-clock time, which may be
 * adjusted.
 */
const CLOCKS_MS = 100

let cluster: LabPlatform

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 3, globex: 2 },
    settings: { liveness: LIVENESS },
  })
  // Two replicas on three nodes: the router of the third node has no local replica and forwards requests to the others.
  await deployRouted(cluster, { tenant: 'acme', name: 'shop', replicas: 2 })
  await deployRouted(cluster, { tenant: 'globex', name: 'mart', replicas: 2 })
})
afterAll(() => cluster?.stop())

/** Cuts the power of the nodes without closing any connection. Returns the time of the cut. */
async function vanish(names: readonly string[]): Promise<number> {
  const { lab } = cluster
  const dead = names.map((name) => cluster.node(name))
  for (const node of dead) {
    for (const other of lab.nodes) if (other !== node) lab.partition(node, other)
    lab.partition(node, 'control-plane')
  }
  const goneMs = performance.now()
  await Promise.all(dead.map((node) => lab.powerOff(node)))
  return goneMs
}

const runningOn = (tenant: string, name: string): Promise<string[]> => readyOn(cluster, tenant, name)

/**
 * Sends a request to each node and waits for the answers. An answer is as good as a heartbeat, so the last contact with
 * each node is not earlier than the returned wall-clock time.
 */
async function contactAll(names: readonly string[]): Promise<number> {
  const beforeMs = Date.now()
  await Promise.all(names.map(hear))
  return beforeMs
}

async function hear(name: string): Promise<void> {
  const { id } = await nodeCalled(cluster, name)
  const listContainers = () => cluster.api(cluster.node(name).tenant).get(`/api/v1/nodes/${id}/containers`)
  await waitUntil(async () => (await listContainers()).status === 200, { what: `${name} answers` })
}

interface Use {
  readonly load: Load
  readonly begunMs: number
}

/** Starts to send requests, so that connections to the machine are in use when the machine disappears. */
async function use(nodes: readonly string[], name: string): Promise<Use> {
  const begunMs = performance.now()
  const targets = nodes.map((node) => edgeOf(cluster, node))
  const perSecond = (PER_SECOND / 5) * nodes.length
  const load = startLoad({ targets, host: hostOf(name), perSecond, timeoutMs: TIMEOUT_MS })
  await waitUntil(() => load.result().answered >= perSecond * 2, { what: `${name} is used` })
  return { load, begunMs }
}

/** Ends the load. Requests in progress on a dead machine may fail: retrying them on another node could run them twice. */
async function endOf({ load, begunMs }: Use, goneMs: number) {
  const { sent, failures, slowestMs } = await load.stop()
  const wasThere = ({ atMs }: LoadResult['failures'][number]) => atMs - TIMEOUT_MS <= goneMs - begunMs
  return { sent, slowestMs, failures: failures.filter((one) => !wasThere(one)) }
}

test('replaces the replicas of two of five machines that lose power', async () => {
  const acme = cluster.api('acme')
  const [lost = '', other = ''] = await runningOn('acme', 'shop')
  const dead = [lost, 'globex-2']
  const left = (tenant: string) => nodesOf(cluster, tenant).filter((node) => !dead.includes(node))
  const loads = await Promise.all([use(left('acme'), 'shop'), use(left('globex'), 'mart')])
  const offMs = await contactAll([lost])
  const goneMs = await vanish(dead)
  await waitUntil(
    async () => {
      const on = await runningOn('acme', 'shop')
      return on.length === 2 && !on.includes(lost) && on.includes(other)
    },
    { what: 'the lost replica is replaced', timeoutMs: FAILED_MS + REPLACED_MS, intervalMs: 100 },
  )
  const replacedMs = Date.now() - offMs
  await waitUntil(async () => (await runningOn('globex', 'mart')).join() === 'globex-1,globex-1', {
    what: 'the replica of the other tenant is replaced',
    timeoutMs: REPLACED_MS,
  })
  await untilPhase(acme, 'shop', 'Running')
  const [failedMs = 0] = await emittedAt(cluster, 'node.failed', lost)
  expect(failedMs - offMs).toBeGreaterThanOrEqual(FAILED_MS - CLOCKS_MS)
  expect((await eventsOf(acme, 'deployment.displaced')).map(({ subject }) => subject.name)).toEqual(['shop'])
  const degraded = await eventsOf(acme, 'deployment.degraded')
  expect(degraded.map(({ reason }) => reason)).toEqual(['node_lost'])
  for (const node of left('acme')) await untilServed(cluster, node, 'shop')
  const [shop, mart] = await Promise.all(loads.map((one) => endOf(one, goneMs)))
  console.log(
    `failed after ${(failedMs - offMs) / 1000} s, replaced and ready after ${replacedMs / 1000} s; ${shop?.sent} and ${mart?.sent} requests to the nodes that were left: ${shop?.failures.length} and ${mart?.failures.length} failed, slowest ${shop?.slowestMs} and ${mart?.slowestMs} ms`,
  )
  expect([shop?.failures, mart?.failures]).toEqual([[], []])
})

test('removes stale containers from machines that return, and places on them again', async () => {
  const acme = cluster.api('acme')
  const dead = cluster.lab.nodes.filter((node) => !isOn(node)).map(({ name }) => name)
  expect(dead).toHaveLength(2)
  cluster.lab.heal()
  await Promise.all(dead.map((name) => cluster.lab.powerOn(cluster.node(name))))
  await untilStatus(cluster, dead, 'ready', 30_000)
  for (const name of dead)
    await waitUntil(async () => (await containersOn(cluster, name)).length === 0, {
      what: `nothing stale is left on ${name}`,
    })
  // The engine no longer has the container before the agent has reported the removal, so the test polls the API.
  await waitUntil(async () => (await placementsOf(acme, 'shop')).length === 2, {
    what: 'two placements are listed',
  })
  expect(await containersOf('acme')).toHaveLength(2)
  expect(await containersOf('globex')).toHaveLength(2)
  expect((await acme.put('/api/v1/deployments/shop', { replicas: 3 })).status).toBe(200)
  const [returned = ''] = dead
  await waitUntil(async () => (await runningOn('acme', 'shop')).includes(returned), {
    what: `${returned} runs a replica again`,
    timeoutMs: 60_000,
  })
  await untilPhase(acme, 'shop', 'Running')
  await untilServed(cluster, returned, 'shop')
  expect((await placementsOf(acme, 'shop')).map(({ replica }) => replica).sort()).toEqual([1, 2, 3])
  expect(await containersOf('acme')).toHaveLength(3)
})

test('declares no node failed for a while when three of five nodes of two tenants fall silent at once', async () => {
  const silent = ['acme-1', 'acme-2', 'globex-1']
  const cutMs = await contactAll(silent)
  for (const name of silent) cluster.lab.partition(cluster.node(name), 'control-plane')
  await untilStatus(cluster, silent, 'unreachable', LIVENESS.unreachableSeconds * 1000 + REPLACED_MS)
  const unreachableMs = Date.now() - cutMs
  await waitUntil(massSilence, { what: 'the gauge of mass failures is 1' })
  await untilStatus(cluster, silent, 'failed', HELD_MS + REPLACED_MS)
  // Only the last node.failed event of each node is used, because a node that failed in an earlier test has several.
  const failedAfterMs = await Promise.all(
    silent.map(async (name) => ((await emittedAt(cluster, 'node.failed', name)).at(-1) ?? 0) - cutMs),
  )
  console.log(`unreachable after ${unreachableMs} ms, failed after ${failedAfterMs.join(', ')} ms`)
  for (const ms of failedAfterMs) expect(ms).toBeGreaterThanOrEqual(HELD_MS - CLOCKS_MS)
  cluster.lab.heal()
  await untilStatus(cluster, silent, 'ready', 60_000)
  await waitUntil(async () => (await containersOf('acme')).length === 3, { what: 'nothing runs twice' })
})

async function massSilence(): Promise<boolean> {
  const { text } = await cluster.platform.api().get('/metrics')
  return /^holdfast_mass_silence 1$/m.test(text)
}

async function containersOf(tenant: string): Promise<string[]> {
  return (await Promise.all(nodesOf(cluster, tenant).map((name) => containersOn(cluster, name)))).flat()
}
