// All servers and the key-value store are down while clients use the running containers. No request fails, no container
// restarts, and no replica moves after the servers return. An agent, an engine and a router fail during the outage.

import {
  describeFailures,
  type Load,
  type LoadResult,
  startLoad,
  waitUntil,
  watchMachineStalls,
} from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { eventsOf, placementsOf, startsOn } from '@holdfast/testkit/scenarios/lab-reads'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { deployRouted, edgeOf, hostOf, nodesOf } from '@holdfast/testkit/scenarios/routed-page'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PER_SECOND = LONG ? 200 : 60
const AWAY_MS = LONG ? 180_000 : 15_000
/** Time in milliseconds within which a killed router must serve again; stalls of the machine itself are added. */
const ROUTER_BACK_MS = 2000
const STALL_FACTOR = 2
/** Time after a router's death in which requests forwarded to it may fail, because a retry could run them twice. */
const IN_FLIGHT_MS = 250
/**
 * Times without a heartbeat after which a node is unreachable or failed. An agent may wait 8 s between two connection
 * attempts after an outage, so unreachableSeconds must be longer than 8 s.
 */
const LIVENESS = LONG ? TIMES : { ...TIMES, unreachableSeconds: 10 }

type Failure = LoadResult['failures'][number]

let cluster: LabPlatform
let load: Load
let begunMs: number

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 3, globex: 1 },
    etcdMembers: 3,
    settings: { liveness: LIVENESS },
  })
  // Two replicas on three nodes: the router of the third node has no local replica and forwards requests to the others.
  await deployRouted(cluster, { tenant: 'acme', name: 'shop', replicas: 2 })
  const targets = nodesOf(cluster, 'acme').map((node) => edgeOf(cluster, node))
  begunMs = performance.now()
  load = startLoad({ targets, host: hostOf('shop'), perSecond: PER_SECOND })
})
afterAll(async () => {
  await load?.stop()
  await cluster?.stop()
})

const everyStart = async (): Promise<string[]> =>
  (await Promise.all(nodesOf(cluster, 'acme').map((name) => startsOn(cluster, name)))).flat().sort()

async function untilPassed(ms: number, sinceMs: number, what: string): Promise<void> {
  await waitUntil(() => performance.now() - sinceMs >= ms, { what, timeoutMs: ms + 1000, intervalMs: 100 })
}

async function silenceEvents(): Promise<unknown[]> {
  const events = await Promise.all(
    ['node.unreachable', 'node.failed', 'deployment.displaced'].map((type) =>
      eventsOf(cluster.api('acme'), type),
    ),
  )
  return events.flat()
}

test('keeps serving while all servers and the store are down', async () => {
  const { lab } = cluster
  const placed = await placementsOf(cluster.api('acme'), 'shop')
  const started = await everyStart()
  const [first = '', second = ''] = placed.map(({ nodeName }) => nodeName)
  let [killedMs, deadMs, stalledMs] = [0, 0, 0]
  await cluster.withoutControlPlane(async () => {
    const goneMs = performance.now()
    await lab.killAgent(cluster.node(first))
    const stalls = await watchMachineStalls()
    killedMs = performance.now() - begunMs
    // The killed router must restart from the configuration on its own disk, without an agent.
    await lab.killCaddy(cluster.node(first))
    deadMs = performance.now() - begunMs
    await lab.killEngine(cluster.node(second))
    await lab.restartEngine(cluster.node(second))
    stalledMs = await stalls()
    await untilPassed(AWAY_MS, goneMs, 'the control plane was away for long enough')
    await lab.restartAgent(cluster.node(first))
  })
  // Wait longer than the failure timeout: if the outage made the servers declare a node failed, they would do so by then.
  await untilPassed((TIMES.failedSeconds + 2) * 1000, performance.now(), 'the failure deadline has passed')
  expect(await silenceEvents()).toEqual([])
  expect(await placementsOf(cluster.api('acme'), 'shop')).toEqual(placed)
  expect(await everyStart()).toEqual(started)

  const { sent, failures, slowestMs } = load.result()
  const lateMs = ({ sentMs }: Failure): number => Math.round(sentMs - deadMs)
  const isEarly = ({ atMs }: Failure): boolean => atMs < killedMs
  const atRouter = failures.filter(({ target }) => target === edgeOf(cluster, first))
  const elsewhere = failures.filter((one) => !atRouter.includes(one))
  console.log(
    `${sent} requests, control plane down for ${AWAY_MS / 1000} s: ${atRouter.length} failed at the killed router, the last sent ${Math.max(0, ...atRouter.map(lateMs))} ms after the kill; ${elsewhere.length} in flight through it; slowest ${slowestMs} ms`,
  )
  const backMs = ROUTER_BACK_MS + STALL_FACTOR * stalledMs
  const wrong = [
    ...atRouter.filter((one) => isEarly(one) || lateMs(one) > backMs),
    ...elsewhere.filter((one) => isEarly(one) || lateMs(one) > IN_FLIGHT_MS),
  ]
  expect(wrong, describeFailures(wrong)).toEqual([])
})

test('accepts and applies a scale-up after the outage', async () => {
  const started = await everyStart()
  expect((await cluster.api('acme').put('/api/v1/deployments/shop', { replicas: 3 })).status).toBe(200)
  await waitUntil(async () => (await everyStart()).length === 3, {
    what: 'a third replica runs',
    timeoutMs: 60_000,
  })
  expect(await everyStart()).toEqual(expect.arrayContaining(started))
})
