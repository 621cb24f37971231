// The whole control plane is away, all servers and the key-value store, while people use what runs: nobody who uses
// it notices, nothing is restarted, and when it is back nothing is moved. Meanwhile an agent, an engine and a router
// fail.

import { type Load, type LoadResult, startLoad, waitUntil, watchMachineStalls } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { eventsOf, placementsOf, startsOn } from '@holdfast/testkit/scenarios/lab-reads'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { deployRouted, edgeOf, hostOf, nodesOf } from '@holdfast/testkit/scenarios/routed-page'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PER_SECOND = LONG ? 200 : 60
const AWAY_MS = LONG ? 180_000 : 15_000
/** How long a router that was killed may be missed, beside what the machine itself stands still: its process is started. */
const ROUTER_BACK_MS = 2000
const STANDS_STILL = 2
/** What another router had just forwarded to it is lost with it: nobody knows how far it was, so it is not sent again. */
const IN_FLIGHT_MS = 250
/**
 * An agent that is started while nobody answers has not been told a beat: a dial that failed three times comes 8 s later.
 * As shipped a node may be silent for longer than the longest of such waits, and here too.
 */
const LIVENESS = LONG ? TIMES : { ...TIMES, unreachableSeconds: 10 }

type Failure = LoadResult['failures'][number]

let whole: LabPlatform
let load: Load
let begunMs: number

beforeAll(async () => {
  whole = await startLabPlatform({
    nodesPerTenant: { acme: 3, globex: 1 },
    etcdMembers: 3,
    settings: { liveness: LIVENESS },
  })
  // One node has none and forwards.
  await deployRouted(whole, { tenant: 'acme', name: 'shop', replicas: 2 })
  const targets = nodesOf(whole, 'acme').map((node) => edgeOf(whole, node))
  begunMs = performance.now()
  load = startLoad({ targets, host: hostOf('shop'), perSecond: PER_SECOND })
})
afterAll(async () => {
  await load?.stop()
  await whole?.stop()
})

const everyStart = async (): Promise<string[]> =>
  (await Promise.all(nodesOf(whole, 'acme').map((name) => startsOn(whole, name)))).flat().sort()

async function untilPassed(ms: number, sinceMs: number, what: string): Promise<void> {
  await waitUntil(() => performance.now() - sinceMs >= ms, { what, timeoutMs: ms + 1000, intervalMs: 100 })
}

async function silenceEvents(): Promise<unknown[]> {
  const told = await Promise.all(
    ['node.unreachable', 'node.failed', 'deployment.displaced'].map((type) =>
      eventsOf(whole.api('acme'), type),
    ),
  )
  return told.flat()
}

test('nobody notices that all servers and the store are away', async () => {
  const { lab } = whole
  const placed = await placementsOf(whole.api('acme'), 'shop')
  const started = await everyStart()
  const [first = '', second = ''] = placed.map(({ nodeName }) => nodeName)
  let [killedMs, deadMs, stalledMs] = [0, 0, 0]
  await whole.withoutControlPlane(async () => {
    const goneMs = performance.now()
    await lab.killAgent(whole.node(first))
    const stalls = await watchMachineStalls()
    killedMs = performance.now() - begunMs
    // Without an agent beside it: what it needs is on its own disk.
    await lab.killCaddy(whole.node(first))
    deadMs = performance.now() - begunMs
    await lab.killEngine(whole.node(second))
    await lab.restartEngine(whole.node(second))
    stalledMs = await stalls()
    await untilPassed(AWAY_MS, goneMs, 'the control plane was away for long enough')
    await lab.restartAgent(whole.node(first))
  })
  // Whoever is to be given up after the return is given up within this time.
  await untilPassed((TIMES.failedSeconds + 2) * 1000, performance.now(), 'the time of the silent is over')
  expect(await silenceEvents()).toEqual([])
  expect(await placementsOf(whole.api('acme'), 'shop')).toEqual(placed)
  expect(await everyStart()).toEqual(started)

  const { sent, failures, slowestMs } = load.result()
  const lateMs = ({ sentMs }: Failure): number => Math.round(sentMs - deadMs)
  const isEarly = ({ atMs }: Failure): boolean => atMs < killedMs
  const atRouter = failures.filter(({ target }) => target === edgeOf(whole, first))
  const elsewhere = failures.filter((one) => !atRouter.includes(one))
  console.log(
    `${sent} requests, away for ${AWAY_MS / 1000} s: ${atRouter.length} failed at the router that was killed, the last sent ${Math.max(0, ...atRouter.map(lateMs))} ms after that; ${elsewhere.length} in flight through it; slowest ${slowestMs} ms`,
  )
  const backMs = ROUTER_BACK_MS + STANDS_STILL * stalledMs
  expect(atRouter.filter((one) => isEarly(one) || lateMs(one) > backMs)).toEqual([])
  expect(elsewhere.filter((one) => isEarly(one) || lateMs(one) > IN_FLIGHT_MS)).toEqual([])
})

test('what is asked afterwards is done', async () => {
  const started = await everyStart()
  expect((await whole.api('acme').put('/api/v1/deployments/shop', { replicas: 3 })).status).toBe(200)
  await waitUntil(async () => (await everyStart()).length === 3, { what: 'a third runs', timeoutMs: 60_000 })
  expect(await everyStart()).toEqual(expect.arrayContaining(started))
})
