// Usage over real sockets: samples of the real agent session, the memory of the gateway, questions between two server
// replicas, and the refill after a restart.

import { type AddressInfo, connect, createServer } from 'node:net'
import { startSession } from '@holdfast/agent/session/start-session'
import type { NodeSampler } from '@holdfast/agent/usage/sample-node'
import { startSampler } from '@holdfast/agent/usage/sample-node'
import type { AssignmentId, SampleRound } from '@holdfast/contract'
import { readDeploymentUsage } from '@holdfast/server/operations/usage/replica-usage'
import { nodes } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { readyObservation, waitUntil } from '@holdfast/testkit'
import { gatewayForTest, gatewaysForTest } from '@holdfast/testkit/session/gateways'
import { openRaw } from '@holdfast/testkit/session/raw-agent'
import { observationOf } from '@holdfast/testkit/session/read-records'
import {
  addTenant,
  anAssignment,
  type EnrolledNode,
  enroll,
  place,
  write,
} from '@holdfast/testkit/session/session-records'
import type { TestGateway } from '@holdfast/testkit/session/start-gateway'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'

const TIMES = { heartbeatMs: 50 }

const round = (id: AssignmentId, cpuMillis: number): SampleRound => ({
  ageMs: 0,
  node: { cpuMillis: 900, memoryBytes: 5000 },
  containers: [{ id, cpuMillis, memoryBytes: 100, rx: 1, tx: 2, throttledPercent: 10, pids: 4 }],
  unread: 1,
})

const newestOf = async (gateway: TestGateway, { tenant, nodeId }: EnrolledNode) => {
  const { nodes, unreachable } = await gateway.gateway.readUsage(tenant, [{ nodeId }], 360)
  return { usage: nodes.get(nodeId), unreachable }
}

test('a sample reaches both server replicas, and no sample changes the store', async () => {
  const [one, two] = await gatewaysForTest({}, {})
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  const assignment = anAssignment(node.nodeId)
  await place(one.store, tenant, [assignment])
  const agent = await openRaw(one.url, node)
  await Promise.all([one.store.fresh(), two.store.fresh()])
  const revision = one.store.revision
  for (let sent = 0; sent < 50; sent += 1)
    agent.send({ type: 'heartbeat', session: agent.session, usage: round(assignment.id, 250) })
  await waitUntil(async () => (await newestOf(one, node)).usage !== undefined, {
    what: 'the samples are kept',
  })
  for (const gateway of [one, two]) {
    const { usage } = await newestOf(gateway, node)
    expect(usage).toMatchObject({ unread: 1, lastMinute: { cpuMillis: 900, memoryBytes: 5000 } })
    expect(usage?.series).toMatchObject([
      { id: assignment.id, lastMinute: { cpuMillis: 250, memoryBytes: 100 }, throttledPercent: 10, pids: 4 },
    ])
    expect(usage?.series[0]?.cpuMillis.filter((value) => value !== null)).toEqual([250])
  }
  expect(one.internalCalls).toEqual([200])
  await Promise.all([one.store.fresh(), two.store.fresh()])
  expect([one.store.revision, two.store.revision]).toEqual([revision, revision])
})

test('samples of another node’s assignment are dropped, and nonsense ends the session', async () => {
  const one = await gatewayForTest()
  const tenant = await addTenant(one.store)
  const [node, other] = [await enroll(one.store, tenant), await enroll(one.store, tenant)]
  const foreign = anAssignment(other.nodeId)
  await place(one.store, tenant, [foreign])
  const agent = await openRaw(one.url, node)
  agent.send({ type: 'heartbeat', session: agent.session - 1, usage: round(foreign.id, 1) })
  agent.send({ type: 'heartbeat', session: agent.session, usage: { ...round(foreign.id, 1), unread: 7 } })
  await waitUntil(async () => (await newestOf(one, node)).usage?.unread === 7, { what: 'the round is kept' })
  expect((await newestOf(one, node)).usage?.series).toEqual([])
  agent.send({ type: 'heartbeat', session: agent.session, usage: round(foreign.id, -1) })
  expect(await agent.next('close')).toMatchObject({ code: 'protocol_violation' })
})

test('the usage of a node follows its session, and is unknown while its server replica does not answer', async () => {
  const [one, two] = await gatewaysForTest({}, { times: { callMs: 2_000 } })
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  const agent = await openRaw(one.url, node)
  agent.send({ type: 'heartbeat', session: agent.session, usage: round(anAssignment(node.nodeId).id, 1) })
  await waitUntil(async () => (await newestOf(one, node)).usage !== undefined, { what: 'the sample is kept' })
  await two.store.fresh()
  expect(await newestOf(two, node)).toMatchObject({ usage: { unread: 1 }, unreachable: [] })
  const moved = await openRaw(two.url, node)
  await waitUntil(async () => (await newestOf(one, node)).usage === undefined, {
    what: 'the first replica forgets',
  })
  moved.send({ type: 'heartbeat', session: moved.session, usage: round(anAssignment(node.nodeId).id, 1) })
  await waitUntil(async () => (await newestOf(one, node)).usage !== undefined, {
    what: 'the second one answers',
  })
  await two.stop()
  expect(await newestOf(one, node)).toEqual({ usage: undefined, unreachable: [node.nodeId] })
})

test('the usage of a node is dropped with its record', async () => {
  const one = await gatewayForTest()
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  const agent = await openRaw(one.url, node)
  agent.send({ type: 'heartbeat', session: agent.session, usage: round(anAssignment(node.nodeId).id, 1) })
  await waitUntil(async () => (await newestOf(one, node)).usage !== undefined, {
    what: 'the sample is kept',
  })
  await write(one.store, (transaction) => transaction.delete(inTenant(tenant, nodes, node.nodeId)))
  await one.store.fresh()
  expect(await newestOf(one, node)).toEqual({ usage: undefined, unreachable: [] })
})

test('the mean of a deployment counts ready replicas and leaves those without samples out', async () => {
  const [one, two] = await gatewaysForTest({}, {})
  const tenant = await addTenant(one.store)
  const [first, second] = [await enroll(one.store, tenant), await enroll(one.store, tenant)]
  const assignments = [anAssignment(first.nodeId), anAssignment(second.nodeId), anAssignment(second.nodeId)]
  const uid = await place(one.store, tenant, assignments)
  for (const [gateway, node, cpuMillis] of [
    [one, first, 100],
    [two, second, 300],
  ] as const) {
    const agent = await openRaw(gateway.url, node)
    const observations = agent.items.map((item) => readyObservation(item, 1))
    agent.send({ type: 'status', session: agent.session, observations })
    const id = agent.items[0]?.assignmentId
    if (id === undefined) throw new Error('nothing is assigned')
    agent.send({ type: 'heartbeat', session: agent.session, usage: round(id, cpuMillis) })
  }
  for (const { id } of assignments)
    await waitUntil(() => observationOf(one.store, tenant, id), { what: 'the replica is ready' })
  const { readUsage } = one.gateway
  const read = () => readDeploymentUsage({ store: one.store, readUsage }, tenant, uid, 0)
  await waitUntil(async () => (await read()).mean.measured === 2, { what: 'two replicas are measured' })
  expect((await read()).mean).toEqual({ ready: 3, measured: 2, cpuMillis: 200, memoryBytes: 100 })
})

/** A sampler with most of an hour behind it. Its clock is the test's, so that rounds lie ten seconds apart. */
function sampledNode(id: AssignmentId): NodeSampler {
  let cpuNanos = 0
  const sampler = startSampler({
    reader: {
      container: () => {
        cpuNanos += 1_000_000
        return { cpuNanos, memoryBytes: 4096 }
      },
      machine: async () => ({ memoryBytes: 1 }),
    },
    running: () => [{ id, containerId: 'c', pid: 1 }],
    monotonicMs: () => performance.now(),
  })
  onTestFinished(sampler.close)
  for (let back = 350; back > 0; back -= 1)
    sampler.history.add(
      { node: { memoryBytes: back }, containers: [{ id, cpuMillis: back, memoryBytes: back }], unread: 0 },
      performance.now() - back * 10_000,
    )
  return sampler
}

function runAgent(server: string, node: EnrolledNode, sampler: NodeSampler): void {
  const session = startSession(
    {
      state: {
        server,
        nodeId: node.nodeId,
        nodeName: 'n',
        tenant: node.tenant,
        generation: node.generation,
        labels: {},
        engine: '',
        engineVersion: { version: '29.0.0', apiVersion: '1.52' },
        identityKey: node.identityKey,
        encryptionKey: node.openingKey,
      },
      machine: () => ({
        bootId: 'boot-1',
        version: '0.1.0',
        capabilities: [],
        labels: {},
        engine: { version: '29.0.0', apiVersion: '1.52' },
        capacity: { cpuMillis: 1_000, memoryBytes: 1_000 },
      }),
      onDesired: () => {},
      containers: async () => [],
      sampler,
      log: pino({ level: 'silent' }),
    },
    { steadyMs: 10_000, openMs: 5_000, reconnectDelayMs: () => 50 },
  )
  onTestFinished(() => session.close())
}

test('an agent refills a server that was restarted', async () => {
  const [one, two] = await gatewaysForTest({ times: TIMES }, { times: TIMES })
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  const assignment = anAssignment(node.nodeId)
  await place(one.store, tenant, [assignment])
  const sampler = sampledNode(assignment.id)
  const filled = async (gateway: TestGateway): Promise<number> => {
    const { usage } = await newestOf(gateway, node)
    return usage?.series[0]?.memoryBytes.filter((value) => value !== null).length ?? 0
  }
  const entry = await startEntry(one.url)
  runAgent(entry.url, node, sampler)
  await waitUntil(async () => (await filled(one)) >= 350, {
    what: 'the samples are there',
    timeoutMs: 20_000,
  })
  // The server restarts: the same agent finds another process behind the same address.
  entry.routeTo(two.url)
  await one.stop()
  await waitUntil(async () => (await filled(two)) >= 350, {
    what: 'the samples are there again',
    timeoutMs: 20_000,
  })
  const { usage } = await newestOf(two, node)
  const values = usage?.series[0]?.memoryBytes.filter((value) => value !== null) ?? []
  expect(values.slice(0, 3)).toEqual([350, 349, 348])
})

/** One address in front of server replicas, as a load balancer has it. */
async function startEntry(first: string): Promise<{ readonly url: string; routeTo(url: string): void }> {
  let target = new URL(first)
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const])
      from.on('error', () => to.destroy()).pipe(to)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    routeTo(url) {
      target = new URL(url)
    },
  }
}
