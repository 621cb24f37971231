// Which nodes are declared failed and which are not: during a mass failure, while the control plane is down, and nodes
// that run the control plane. Times are a hundredth of the defaults.

import { setTimeout } from 'node:timers/promises'
import { DEFAULT_TIMES } from '@holdfast/server/gateway/timings'
import { startLivenessWatch } from '@holdfast/server/liveness/watch-silent-nodes'
import { type Leadership, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import { realClock as clock } from '@holdfast/server/system-clock'
import {
  type SimulatedAgents,
  sharedEtcd,
  startSimulatedAgents,
  uniqueName,
  waitUntil,
} from '@holdfast/testkit'
import { createPausable } from '@holdfast/testkit/controllers/pausable-engine'
import { scaledTimings } from '@holdfast/testkit/controllers/timings'
import { gatewayForTest, gatewaysForTest } from '@holdfast/testkit/session/gateways'
import { eventTypes, nodeRecord, recordTime, timeOfEvent } from '@holdfast/testkit/session/read-records'
import { addTenant, type EnrolledNode, enroll, enrollMany } from '@holdfast/testkit/session/session-records'
import type { TestGateway } from '@holdfast/testkit/session/start-gateway'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

const { heartbeatMs, unreachableMs, failedMs, massWindowMs, massHoldMs } = DEFAULT_TIMES
const TIMES = {
  ...{
    heartbeatMs: heartbeatMs / 100,
    unreachableMs: unreachableMs / 100,
    failedMs: failedMs / 100,
    sweepMs: 20,
  },
  // The window of mass-failure detection is a twentieth of the default, because many node statuses are written slowly.
  massWindowMs: massWindowMs / 20,
  massHoldMs: massHoldMs / 100,
}
/** Records have wall-clock times; the server measures silence by its monotonic clock. */
const ROUNDING_MS = 10
/** Tolerance of failure times: the last heartbeat may have arrived this long before the connection was cut. */
const SLACK_MS = 3 * TIMES.heartbeatMs

async function agentsOf({ url }: TestGateway, nodes: readonly EnrolledNode[]): Promise<SimulatedAgents> {
  const agents = await startSimulatedAgents({ url, nodes })
  onTestFinished(() => agents.close())
  return agents
}

/** Creates two nodes of one tenant, one node of another tenant, and two nodes that stay connected. */
async function fiveNodes({ store }: TestGateway) {
  const [first, second] = [await addTenant(store), await addTenant(store)]
  const [a = [], b = []] = [await enrollMany(store, first, 3), await enrollMany(store, second, 2)]
  return {
    tenants: [first, second],
    three: [...a.slice(0, 2), ...b.slice(0, 1)],
    two: [...a.slice(2), ...b.slice(1)],
  }
}

/** Waits until the nodes have failed. Returns the milliseconds from `since` until each failure, by the times of records. */
async function failuresOf(
  { store }: TestGateway,
  nodes: readonly EnrolledNode[],
  since: number,
): Promise<number[]> {
  await waitUntil(
    async () => {
      const records = await Promise.all(nodes.map((node) => nodeRecord(store, node)))
      return records.every(({ status }) => status === 'failed')
    },
    { what: 'they are all failed' },
  )
  const failed = await Promise.all(nodes.map((node) => timeOfEvent(store, node, 'node.failed')))
  return failed.map((time) => time - since)
}

const holdsOf = ({ logged }: TestGateway): string[] =>
  logged.filter((line) => line.startsWith('mass-failure hold began'))

/** Writes the heartbeat of a server replica; with `leads` also its ownership of shards. */
function heartbeatFor(
  gateway: TestGateway,
  replica: string,
  options: { leads?: boolean; nodeName?: string } = {},
) {
  const leadership = startLeadership({
    store: gateway.store,
    clock,
    replica,
    url: gateway.url,
    leads: false,
    timings: scaledTimings(0.02),
    ...options,
    onError: () => {},
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= leadership.stop()
    return stopped
  }
  onTestFinished(stop)
  return { leadership, stop }
}

test('three of five nodes of two tenants disconnect at once: none is declared failed for ten minutes, then all three are', async () => {
  const gateway = await gatewayForTest({ times: TIMES })
  const { tenants, three, two } = await fiveNodes(gateway)
  await agentsOf(gateway, two)
  const silenced = await agentsOf(gateway, three)
  silenced.close()
  const failures = await failuresOf(gateway, three, await recordTime(gateway.store))
  expect(Math.min(...failures)).toBeGreaterThan(TIMES.failedMs + TIMES.massHoldMs - SLACK_MS)
  for (const node of two) expect((await nodeRecord(gateway.store, node)).status).toBe('ready')
  expect(holdsOf(gateway)).toHaveLength(1)
  await waitUntil(() => gateway.logged.some((line) => line.startsWith('mass-failure hold ended')), {
    what: 'the hold is over',
  })
  const emitted = await Promise.all(tenants.map((tenant) => eventTypes(gateway.store, tenant)))
  expect(emitted.flat().filter((type) => type === 'node.unreachable')).toHaveLength(3)
})

test('two of five nodes that disconnect are declared failed without a hold', async () => {
  const gateway = await gatewayForTest({ times: TIMES })
  const { three, two } = await fiveNodes(gateway)
  await agentsOf(gateway, three)
  const silenced = await agentsOf(gateway, two)
  silenced.close()
  const failures = await failuresOf(gateway, two, await recordTime(gateway.store))
  expect(Math.min(...failures)).toBeGreaterThan(TIMES.failedMs - SLACK_MS)
  expect(holdsOf(gateway)).toEqual([])
})

test('a mass failure with sessions on two server replicas is detected, and neither declares its own nodes failed', async () => {
  const [first, second] = await gatewaysForTest({ times: TIMES }, { times: TIMES })
  const { three, two } = await fiveNodes(first)
  heartbeatFor(first, 'server-1')
  heartbeatFor(second, 'server-2')
  await agentsOf(first, two)
  const [here, there] = [await agentsOf(first, three.slice(0, 1)), await agentsOf(second, three.slice(1))]
  here.close()
  there.close()
  const failures = await failuresOf(first, three, await recordTime(first.store))
  expect(Math.min(...failures)).toBeGreaterThan(TIMES.failedMs + TIMES.massHoldMs - SLACK_MS)
})

test('nodes of a server replica that is gone too count as disconnected, because their state is unknown', async () => {
  const [first, second] = await gatewaysForTest({ times: TIMES }, { times: TIMES })
  const { three, two } = await fiveNodes(first)
  heartbeatFor(first, 'server-1')
  const { stop } = heartbeatFor(second, 'server-2')
  await agentsOf(first, two)
  const [here, there] = [await agentsOf(first, three.slice(0, 2)), await agentsOf(second, three.slice(2))]
  here.close()
  there.close()
  second.gateway.close()
  await stop()
  const failures = await failuresOf(first, three.slice(0, 2), await recordTime(first.store))
  expect(Math.min(...failures)).toBeGreaterThan(TIMES.failedMs + TIMES.massHoldMs - SLACK_MS)
})

test('after the store was unavailable every node has its full timeout', async () => {
  const pausable = createPausable()
  const gateway = await gatewayForTest({ times: { ...TIMES, awayMs: 300 }, wrap: pausable.wrap })
  const node = await enroll(gateway.store, await addTenant(gateway.store))
  const agents = await agentsOf(gateway, [node])
  agents.close()
  await waitUntil(async () => (await nodeRecord(gateway.store, node)).status === 'unreachable', {
    what: 'it is unreachable',
  })
  pausable.pause()
  await setTimeout(2 * TIMES.failedMs)
  const beside = await openTestStore({
    endpoints: (await sharedEtcd()).endpoints,
    root: `/${uniqueName('beside')}`,
  })
  onTestFinished(() => beside.close())
  const back = await recordTime(beside.store)
  pausable.resume()
  const [failed = 0] = await failuresOf(gateway, [node], back)
  expect(failed).toBeGreaterThan(TIMES.failedMs - ROUNDING_MS)
})

function upstreamFor(gateway: TestGateway, replica: string): Leadership {
  const { leadership } = heartbeatFor(gateway, replica, { leads: true })
  const watch = startLivenessWatch({
    ...{
      store: gateway.store,
      clock,
      leadership,
      detector: gateway.detector,
      checkMs: 20,
      onError: () => {},
    },
    times: { ...DEFAULT_TIMES, ...TIMES },
  })
  onTestFinished(() => watch.stop())
  return leadership
}

test('after the server was down its successor gives the nodes their full timeout, and nodes that reconnect stay', async () => {
  const first = await gatewayForTest({ times: TIMES, replica: 'before' })
  const { stop } = heartbeatFor(first, 'before')
  const tenant = await addTenant(first.store)
  const [lost, back] = await enrollMany(first.store, tenant, 2)
  if (lost === undefined || back === undefined) throw new Error('no nodes')
  await agentsOf(first, [lost, back])
  await first.gateway.close()
  await stop()
  await setTimeout(2 * TIMES.failedMs)
  const root = first.store.keyspace.root
  const second = await gatewayForTest({ root, times: TIMES, replica: 'after' })
  const started = await recordTime(second.store)
  upstreamFor(second, 'after')
  await agentsOf(second, [back])
  const [failed = 0] = await failuresOf(second, [lost], started)
  expect(failed).toBeGreaterThan(TIMES.failedMs - ROUNDING_MS)
  expect((await nodeRecord(second.store, back)).status).toBe('ready')
  expect((await eventTypes(second.store, tenant)).sort()).toEqual(
    ['node.failed', 'node.ready', 'node.ready', 'node.unreachable'].sort(),
  )
})

test('a control-plane node is alive while its server or its agent is, and its silence is published', async () => {
  // The unreachable timeout is longer than a busy machine needs for one heartbeat of the server.
  const times = { ...TIMES, unreachableMs: 2_000, failedMs: 2_500 }
  const gateway = await gatewayForTest({ times })
  const tenant = await addTenant(gateway.store)
  const node = await enroll(gateway.store, tenant, { controlPlane: true, name: 'machine-1' })
  const { stop } = heartbeatFor(gateway, 'srv_there', { nodeName: 'machine-1' })
  const agents = await agentsOf(gateway, [node])
  agents.close()
  const status = async () => (await nodeRecord(gateway.store, node)).status
  await setTimeout(2 * times.failedMs)
  // A node that had become unreachable would have an event of that.
  expect([await status(), await eventTypes(gateway.store, tenant)]).toEqual(['ready', ['node.ready']])
  await stop()
  await waitUntil(async () => (await status()) === 'failed', { what: 'nothing is left there' })
  heartbeatFor(gateway, 'srv_again', { nodeName: 'machine-1' })
  upstreamFor(gateway, 'srv_leader')
  await waitUntil(async () => (await status()) === 'ready', { what: 'a server runs there again' })
  const silence = ['node.unreachable', 'node.failed']
  expect(await eventTypes(gateway.store, tenant)).toEqual(['node.ready', ...silence, 'node.ready'])
})
