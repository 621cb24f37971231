// Four servers behind a load balancer, of which one loses etcd for a quarter of an hour: every agent moves to another server
// before its node could be called unreachable, and no replica is replaced. Real machines serve requests all this time.
// Only the long run has the time; tests/real/session/store-cut.test.ts is the short form, without machines.

import { startLoad, waitUntil } from '@holdfast/testkit'
import { startBalancer } from '@holdfast/testkit/builds/balancer'
import { LONG } from '@holdfast/testkit/long-run'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import { eventsOf, placementsOf, startsOn } from '@holdfast/testkit/scenarios/lab-reads'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { deployRouted, edgeOf, hostOf, nodesOf } from '@holdfast/testkit/scenarios/routed-page'
import {
  type FrontPlace,
  type LabPlatform,
  startLabPlatform,
} from '@holdfast/testkit/scenarios/start-lab-platform'
import { nodeRecord } from '@holdfast/testkit/session/read-records'
import { runAgent } from '@holdfast/testkit/session/run-agent'
import { addTenant, enrollMany } from '@holdfast/testkit/session/session-records'
import { type ProxiedCluster, proxyCluster } from '@holdfast/testkit/store/proxied-cluster'
import { afterAll, describe, expect, test } from 'vitest'

const SERVERS = 4
const MACHINES = { acme: 3, globex: 2 }
const SIMULATED = 45
const AGENTS = SIMULATED + MACHINES.acme + MACHINES.globex
const CUT_MS = 15 * 60_000
const MOVED_MS = 40_000
const ROLES = ['api', 'controllers', 'gateway'] as const

describe.skipIf(!LONG)('a server that loses etcd', () => {
  const stops: (() => Promise<void>)[] = []
  const replicas: Replica[] = []
  /** Ports of the servers whose /readyz fails. */
  const notReady = new Set<number>()
  let cluster: LabPlatform
  let agentsServer = ''
  let authority = ''
  let way: ProxiedCluster

  afterAll(async () => {
    await cluster?.stop()
    for (const stop of stops.reverse()) await stop()
  })

  /** Starts the servers, the first of which reaches etcd through a proxy, and the load balancer. */
  async function startServers(platform: Platform, { host, certificates }: FrontPlace): Promise<string> {
    way = await proxyCluster({ endpoints: platform.config.etcd.endpoints })
    stops.push(() => way.stop())
    for (let at = 0; at < SERVERS; at += 1) {
      const etcd = { ...platform.config.etcd, ...(at === 0 ? { endpoints: way.endpoints } : {}) }
      const replica = await startReplica(platform, { roles: [...ROLES], etcd })
      replicas.push(replica)
      stops.push(() => replica.stop())
    }
    authority = certificates.pem('ca.crt')
    const balancer = await startBalancer({
      host,
      cert: certificates.pem('server.crt'),
      key: certificates.pem('server.key'),
      ports: replicas.map(portOf),
      isReady: (port) => !notReady.has(port),
    })
    stops.push(() => balancer.stop())
    agentsServer = balancer.url
    return balancer.url
  }
  /** The sessions of the servers, as their metrics say. */
  async function sessionsOf(servers: readonly Replica[]): Promise<number> {
    const counts = servers.map(async ({ api }) => {
      const { text } = await api(cluster.platform.platformToken).get('/metrics')
      return Number(/^holdfast_agent_sessions (\d+)$/m.exec(text)?.[1])
    })
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }
  const everyStart = async (): Promise<string[]> =>
    (await Promise.all(cluster.lab.nodes.map(({ name }) => startsOn(cluster, name)))).flat().sort()
  const placements = () =>
    Promise.all([placementsOf(cluster.api('acme'), 'shop'), placementsOf(cluster.api('globex'), 'mart')])
  async function lossEvents(): Promise<unknown[]> {
    const types = ['node.unreachable', 'node.failed', 'deployment.displaced']
    const of = (tenant: string) => types.map((type) => eventsOf(cluster.api(tenant), type))
    return (await Promise.all(['acme', 'globex'].flatMap(of))).flat()
  }

  test('hands its agents to the others, and no node fails and no replica moves', async () => {
    cluster = await startLabPlatform({
      nodesPerTenant: MACHINES,
      roles: ['api', 'broker'],
      settings: { liveness: TIMES },
      front: startServers,
    })
    const tenant = await addTenant(cluster.store)
    const simulated = await enrollMany(cluster.store, tenant, SIMULATED)
    for (const node of simulated) runAgent({ server: agentsServer, ca: authority }, node)
    await deployRouted(cluster, { tenant: 'acme', name: 'shop', replicas: 3 })
    await deployRouted(cluster, { tenant: 'globex', name: 'mart', replicas: 2 })
    const [cut, ...others] = replicas
    if (cut === undefined) throw new Error('no server')
    await waitUntil(async () => (await sessionsOf(replicas)) === AGENTS && (await sessionsOf([cut])) > 0, {
      what: 'each agent has a session',
      timeoutMs: 60_000,
    })
    const [placed, started] = [await placements(), await everyStart()]
    const targets = nodesOf(cluster, 'acme').map((node) => edgeOf(cluster, node))
    const load = startLoad({ targets, host: hostOf('shop'), perSecond: 60 })

    const moving = await sessionsOf([cut])
    const began = performance.now()
    way.cutOff()
    notReady.add(portOf(cut))
    let moved = 0
    const haveMoved = async () => {
      moved = await sessionsOf(others)
      return moved === AGENTS
    }
    await waitUntil(haveMoved, {
      what: 'every agent is with another server',
      timeoutMs: MOVED_MS,
      intervalMs: 100,
      seen: () => `${moved} of ${AGENTS} are`,
    })
    const movedMs = performance.now() - began
    await waitUntil(
      async () => {
        expect(await sessionsOf(others)).toBe(AGENTS)
        return performance.now() - began >= CUT_MS
      },
      { what: 'the cut has lasted', timeoutMs: CUT_MS + 10_000, intervalMs: 500 },
    )
    way.restore()
    notReady.clear()
    const { sent, failures } = await load.stop()
    console.log(
      `${moving} of ${AGENTS} agents (${AGENTS - SIMULATED} with machines) moved to ${others.length} servers in ${(movedMs / 1000).toFixed(1)} s; cut of ${CUT_MS / 1000} s: ${sent} requests, ${failures.length} failed`,
    )
    expect(failures).toEqual([])
    expect(await lossEvents()).toEqual([])
    for (const node of simulated) expect((await nodeRecord(cluster.store, node)).status).toBe('ready')
    expect(await placements()).toEqual(placed)
    expect(await everyStart()).toEqual(started)
  })
})

const portOf = ({ baseUrl }: Replica): number => Number(new URL(baseUrl).port)
