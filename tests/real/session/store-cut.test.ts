// Gateways over one etcd, of which one loses it. While another one reaches etcd, its agents move there before they could be
// called unreachable; while none does, no session ends (docs/design/liveness.md#cut-off).

import { reconnectDelayMs } from '@holdfast/agent/session/reconnect-delay'
import type { SessionTimes } from '@holdfast/agent/session/start-session'
import { type Certificates, makeCertificates, sharedEtcd, waitUntil } from '@holdfast/testkit'
import { startBalancer } from '@holdfast/testkit/builds/balancer'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import { gatewaysForTest } from '@holdfast/testkit/session/gateways'
import { nodeRecord } from '@holdfast/testkit/session/read-records'
import { runAgent } from '@holdfast/testkit/session/run-agent'
import { addTenant, type EnrolledNode, enroll } from '@holdfast/testkit/session/session-records'
import type { TestGateway } from '@holdfast/testkit/session/start-gateway'
import { type ProxiedCluster, proxyCluster } from '@holdfast/testkit/store/proxied-cluster'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

/** CI uses a fifth of the shipped times, the long run the shipped ones. */
const SCALE = inRun(0.2, 1)
const AGENTS = inRun(6, 50)
const CUT_MS = inRun(15_000, 15 * 60_000)
const MOVED_MS = 40_000 * SCALE
const TIMES = {
  ...{ heartbeatMs: 10_000 * SCALE, unreachableMs: 40_000 * SCALE, failedMs: 120_000 * SCALE },
  ...{ awayMs: 15_000 * SCALE, cutOffMs: 20_000 * SCALE, cutOffSpreadMs: 5_000 * SCALE },
  askOthersMs: 2_000 * SCALE,
}

const AGENT_TIMES: SessionTimes = {
  ...{ steadyMs: 10_000 * SCALE, openMs: 20_000 },
  reconnectDelayMs: (failures, heartbeatMs = TIMES.heartbeatMs) =>
    SCALE * reconnectDelayMs(failures, Math.random(), heartbeatMs / SCALE),
}

let certificates: Certificates
beforeAll(async () => {
  certificates = await makeCertificates()
})
afterAll(() => certificates.remove())

interface World {
  readonly gateways: readonly TestGateway[]
  /** The connection of each gateway to etcd. */
  readonly ways: readonly ProxiedCluster[]
  readonly nodes: readonly EnrolledNode[]
  /** Ports of the servers whose /readyz fails. */
  readonly notReady: Set<number>
}

/** Starts the gateways behind a load balancer that checks /readyz, and agents with the shipped backoff. */
async function startWorld(): Promise<World> {
  const etcd = await sharedEtcd()
  const ways = await Promise.all(Array.from({ length: inRun(2, 4) }, () => proxyCluster(etcd)))
  onTestFinished(async () => {
    await Promise.all(ways.map((way) => way.stop()))
  })
  const options = ways.map(({ endpoints }) => ({ endpoints, times: TIMES }))
  const [first, ...others] = options
  if (first === undefined) throw new Error('no gateway')
  const gateways: readonly TestGateway[] = await gatewaysForTest(first, ...others)
  const ports = gateways.map(({ url }) => Number(new URL(url).port))
  const [cert, key] = [certificates.pem('server.crt'), certificates.pem('server.key')]
  const notReady = new Set<number>()
  const balancer = await startBalancer({
    host: '127.0.0.1',
    cert,
    key,
    ports,
    isReady: (port) => !notReady.has(port),
  })
  onTestFinished(() => balancer.stop())
  const store = gateways[0]?.store
  if (store === undefined) throw new Error('no gateway')
  const tenant = await addTenant(store)
  const nodes: EnrolledNode[] = []
  for (let index = 0; index < AGENTS; index += 1) nodes.push(await enroll(store, tenant))
  const place = { server: balancer.url, ca: certificates.pem('ca.crt') }
  for (const node of nodes) runAgent(place, node, AGENT_TIMES)
  await waitUntil(
    () => sessionsOf(gateways) === AGENTS && gateways.every(({ gateway }) => gateway.sessions > 0),
    {
      what: 'each agent has a session',
      timeoutMs: 30_000,
    },
  )
  return { gateways, ways, nodes, notReady }
}

const sessionsOf = (gateways: readonly TestGateway[]): number =>
  gateways.reduce((sum, { gateway }) => sum + gateway.sessions, 0)
const cutOf = (gateways: readonly TestGateway[]): number =>
  gateways.reduce((sum, { gateway }) => sum + gateway.counts.sessionsCut, 0)

/** Waits for a time in which nothing must happen. */
async function pass(ms: number, check: () => void): Promise<void> {
  const began = performance.now()
  await waitUntil(
    () => {
      check()
      return performance.now() - began >= ms
    },
    { what: 'the time has passed', timeoutMs: ms + 10_000, intervalMs: 100 },
  )
}

test(
  'the agents of a server that loses etcd are with another one before they are called unreachable',
  async () => {
    const { gateways, ways, nodes, notReady } = await startWorld()
    const [cut, ...others] = gateways
    const moving = cut?.gateway.sessions ?? 0
    ways[0]?.cutOff()
    notReady.add(Number(new URL(cut?.url ?? '').port))
    const began = performance.now()
    await waitUntil(() => sessionsOf(others) === AGENTS, {
      what: 'every agent is with another server',
      timeoutMs: MOVED_MS,
      intervalMs: 50,
      seen: () =>
        JSON.stringify(gateways.map(({ gateway, logged }) => [gateway.isCutOff, gateway.sessions, logged])),
    })
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    console.log(
      `${moving} of ${AGENTS} agents moved to ${others.length} of ${gateways.length} servers in ${seconds} s, timings x ${SCALE}${LONG ? '' : ', CI counts'}`,
    )
    expect(cut?.gateway.isCutOff).toBe(true)
    expect(cut?.logged).toContain(
      'store unreachable from this server but not from others, ending its agent sessions',
    )
    await pass(CUT_MS - (performance.now() - began), () => expect(sessionsOf(others)).toBe(AGENTS))
    ways[0]?.restore()
    await waitUntil(() => cut?.gateway.isCutOff === false, { what: 'the server is back', timeoutMs: 60_000 })
    const [other] = others
    if (other === undefined) throw new Error('no other gateway')
    for (const node of nodes) expect((await nodeRecord(other.store, node)).status).toBe('ready')
  },
  CUT_MS + 180_000,
)

test(
  'no session ends while no server reaches etcd, and none when it returns',
  async () => {
    const { gateways, ways } = await startWorld()
    const before = cutOf(gateways)
    for (const way of ways) way.cutOff()
    await pass(CUT_MS, () => expect(sessionsOf(gateways)).toBe(AGENTS))
    expect(gateways.flatMap(({ logged }) => logged)).toContain(
      'store unreachable and no other server known to reach it, keeping agent sessions',
    )
    for (const way of ways) way.restore()
    await pass(10_000 * SCALE, () => expect(sessionsOf(gateways)).toBe(AGENTS))
    expect(cutOf(gateways)).toBe(before)
    console.log(
      `0 of ${AGENTS} sessions ended while etcd was away for ${CUT_MS / 1_000} s, timings x ${SCALE}`,
    )
  },
  CUT_MS + 180_000,
)
