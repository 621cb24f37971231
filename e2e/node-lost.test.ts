// Machines vanish while people use what runs. One or two of them: what ran there runs elsewhere, and only who asked
// the dead ones themselves notices. Many of several tenants at once: more likely it is the network, so nobody is
// given up for a while.

import { type Load, type LoadResult, startLoad, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { isOn } from '@holdfast/testkit/scenarios/check-history'
import { containersOn, eventsOf, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { deployRouted, edgeOf, hostOf, nodesOf, untilServed } from '@holdfast/testkit/scenarios/routed-page'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PER_SECOND = LONG ? 200 : 60
const TIMEOUT_MS = 20_000
/** What the rest of it may take, once a node is given up: told, placed, pulled, started, ready, routed to. */
const REPLACED_MS = 30_000
const LIVENESS = LONG ? TIMES : { ...TIMES, massHoldSeconds: 6 }
const FAILED_MS = LIVENESS.failedSeconds * 1000
const HELD_MS = FAILED_MS + LIVENESS.massHoldSeconds * 1000
/** Silence is counted on a clock that never goes back, and told by the one on the wall, which is put right meanwhile. */
const CLOCKS_MS = 100

let whole: LabPlatform

beforeAll(async () => {
  whole = await startLabPlatform({
    nodesPerTenant: { acme: 3, globex: 2 },
    settings: { liveness: LIVENESS },
  })
  // One of the three has none and forwards.
  await deployRouted(whole, { tenant: 'acme', name: 'shop', replicas: 2 })
  await deployRouted(whole, { tenant: 'globex', name: 'mart', replicas: 2 })
})
afterAll(() => whole?.stop())

/** As when the plug is pulled: nobody hears a last word, no connection is closed. Says when that was. */
async function vanish(names: readonly string[]): Promise<number> {
  const { lab } = whole
  const dead = names.map((name) => whole.node(name))
  for (const node of dead) {
    for (const other of lab.nodes) if (other !== node) lab.partition(node, other)
    lab.partition(node, 'control-plane')
  }
  const goneMs = performance.now()
  await Promise.all(dead.map((node) => lab.powerOff(node)))
  return goneMs
}

const runningOn = async (tenant: string, name: string): Promise<string[]> =>
  (await placementsOf(whole.api(tenant), name))
    .filter(({ state }) => state === 'ready')
    .map(({ nodeName }) => nodeName)

async function nodeCalled(name: string): Promise<{ id?: string; status?: string }> {
  const { body } = await whole.api(whole.node(name).tenant).get('/api/v1/nodes')
  return Object(Object.values(Object(body['items'])).find((each) => Object(each).name === name))
}

const statusOf = async (name: string): Promise<string> => String((await nodeCalled(name)).status)

async function untilStatus(names: readonly string[], status: string, timeoutMs: number): Promise<void> {
  await waitUntil(async () => (await Promise.all(names.map(statusOf))).every((one) => one === status), {
    what: `${names.join(', ')}: ${status}`,
    timeoutMs,
    intervalMs: 100,
  })
}

/**
 * Each of them is asked and answers, which counts as a beat: whoever falls silent after this was last heard after it. Says
 * when that was, on the clock of the events.
 */
async function hearAll(names: readonly string[]): Promise<number> {
  const beforeMs = Date.now()
  await Promise.all(names.map(hear))
  return beforeMs
}

async function hear(name: string): Promise<void> {
  const { id } = await nodeCalled(name)
  const asked = () => whole.api(whole.node(name).tenant).get(`/api/v1/nodes/${id}/containers`)
  await waitUntil(async () => (await asked()).status === 200, { what: `${name} answers` })
}

/** When the event of a node was told, in milliseconds of the clock on the wall. */
async function toldAt(type: string, node: string): Promise<number[]> {
  const told = await eventsOf(whole.api(whole.node(node).tenant), type)
  return told.filter(({ subject }) => subject.name === node).map(({ time }) => Date.parse(time))
}

interface Use {
  readonly load: Load
  readonly begunMs: number
}

/** With connections that are in use when the machine goes. */
async function use(nodes: readonly string[], name: string): Promise<Use> {
  const begunMs = performance.now()
  const targets = nodes.map((node) => edgeOf(whole, node))
  const perSecond = (PER_SECOND / 5) * nodes.length
  const load = startLoad({ targets, host: hostOf(name), perSecond, timeoutMs: TIMEOUT_MS })
  await waitUntil(() => load.result().answered >= perSecond * 2, { what: `${name} is used` })
  return { load, begunMs }
}

/** What a dead machine was doing when it died is lost: nobody knows how far it was, so it is not asked of another. */
async function endOf({ load, begunMs }: Use, goneMs: number) {
  const { sent, failures, slowestMs } = await load.stop()
  const wasThere = ({ atMs }: LoadResult['failures'][number]) => atMs - TIMEOUT_MS <= goneMs - begunMs
  return { sent, slowestMs, failures: failures.filter((one) => !wasThere(one)) }
}

test('two of five machines lose their power: what ran there runs elsewhere', async () => {
  const acme = whole.api('acme')
  const [lost = '', other = ''] = await runningOn('acme', 'shop')
  const dead = [lost, 'globex-2']
  const left = (tenant: string) => nodesOf(whole, tenant).filter((node) => !dead.includes(node))
  const loads = await Promise.all([use(left('acme'), 'shop'), use(left('globex'), 'mart')])
  const offMs = await hearAll([lost])
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
    what: 'that of the other tenant, too',
    timeoutMs: REPLACED_MS,
  })
  await untilPhase(acme, 'shop', 'Running')
  const [failedMs = 0] = await toldAt('node.failed', lost)
  expect(failedMs - offMs).toBeGreaterThanOrEqual(FAILED_MS - CLOCKS_MS)
  expect((await eventsOf(acme, 'deployment.displaced')).map(({ subject }) => subject.name)).toEqual(['shop'])
  const degraded = await eventsOf(acme, 'deployment.degraded')
  expect(degraded.map(({ reason }) => reason)).toEqual(['node_lost'])
  for (const node of left('acme')) await untilServed(whole, node, 'shop')
  const [shop, mart] = await Promise.all(loads.map((one) => endOf(one, goneMs)))
  console.log(
    `failed after ${(failedMs - offMs) / 1000} s, replaced and ready after ${replacedMs / 1000} s; ${shop?.sent} and ${mart?.sent} requests to the nodes that were left: ${shop?.failures.length} and ${mart?.failures.length} failed, slowest ${shop?.slowestMs} and ${mart?.slowestMs} ms`,
  )
  expect([shop?.failures, mart?.failures]).toEqual([[], []])
})

test('they come back: what is stale is gone, and they take work again', async () => {
  const acme = whole.api('acme')
  const dead = whole.lab.nodes.filter((node) => !isOn(node)).map(({ name }) => name)
  expect(dead).toHaveLength(2)
  whole.lab.heal()
  await Promise.all(dead.map((name) => whole.lab.powerOn(whole.node(name))))
  await untilStatus(dead, 'ready', 30_000)
  for (const name of dead)
    await waitUntil(async () => (await containersOn(whole, name)).length === 0, {
      what: `nothing stale is left on ${name}`,
    })
  // The machine shows it before its agent has told it.
  await waitUntil(async () => (await placementsOf(acme, 'shop')).length === 2, { what: 'two are known' })
  expect(await containersOf('acme')).toHaveLength(2)
  expect(await containersOf('globex')).toHaveLength(2)
  expect((await acme.put('/api/v1/deployments/shop', { replicas: 3 })).status).toBe(200)
  const [returned = ''] = dead
  await waitUntil(async () => (await runningOn('acme', 'shop')).includes(returned), {
    what: `${returned} takes work again`,
    timeoutMs: 60_000,
  })
  await untilPhase(acme, 'shop', 'Running')
  await untilServed(whole, returned, 'shop')
  expect((await placementsOf(acme, 'shop')).map(({ replica }) => replica).sort()).toEqual([1, 2, 3])
  expect(await containersOf('acme')).toHaveLength(3)
})

test('three of five of two tenants fall silent at once: nobody is given up for a while', async () => {
  const silent = ['acme-1', 'acme-2', 'globex-1']
  const cutMs = await hearAll(silent)
  for (const name of silent) whole.lab.partition(whole.node(name), 'control-plane')
  await untilStatus(silent, 'unreachable', LIVENESS.unreachableSeconds * 1000 + REPLACED_MS)
  const unreachableMs = Date.now() - cutMs
  await waitUntil(massSilence, { what: 'the gauge says so' })
  await untilStatus(silent, 'failed', HELD_MS + REPLACED_MS)
  // The last of each: who failed in the first test, too, may be told of once, with a count.
  const toldMs = await Promise.all(
    silent.map(async (name) => ((await toldAt('node.failed', name)).at(-1) ?? 0) - cutMs),
  )
  console.log(`unreachable after ${unreachableMs} ms, failed after ${toldMs.join(', ')} ms`)
  for (const ms of toldMs) expect(ms).toBeGreaterThanOrEqual(HELD_MS - CLOCKS_MS)
  whole.lab.heal()
  await untilStatus(silent, 'ready', 60_000)
  await waitUntil(async () => (await containersOf('acme')).length === 3, { what: 'nothing runs twice' })
})

async function massSilence(): Promise<boolean> {
  const { text } = await whole.platform.api().get('/metrics')
  return /^holdfast_mass_silence 1$/m.test(text)
}

async function containersOf(tenant: string): Promise<string[]> {
  return (await Promise.all(nodesOf(whole, tenant).map((name) => containersOn(whole, name)))).flat()
}
