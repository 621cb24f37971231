// Node liveness: only the server replica that has a node's session writes the node's status, and only when it changes.

import { newSession } from '@holdfast/server/gateway/session/session'
import { DEFAULT_TIMES } from '@holdfast/server/gateway/timings'
import { recordStatus } from '@holdfast/server/liveness/record-session-status'
import { nodes } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { helloOf, startSimulatedAgents, waitUntil } from '@holdfast/testkit'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { createHeldWatch } from '@holdfast/testkit/session/held-watch'
import { dialRaw, openRaw } from '@holdfast/testkit/session/raw-agent'
import { eventTypes, nodeRecord, timeOfEvent } from '@holdfast/testkit/session/read-records'
import { addTenant, enroll, write } from '@holdfast/testkit/session/session-records'
import { expect, test } from 'vitest'

/** Records have wall-clock times; the server measures silence by its monotonic clock. */
const ROUNDING_MS = 10
const QUICK = { heartbeatMs: 50, unreachableMs: 300, failedMs: 900, sweepMs: 20 }

test('a node without heartbeats becomes unreachable, then failed, and ready when it comes back', async () => {
  const { url, store } = await gatewayForTest({ times: QUICK })
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  const agent = await openRaw(url, node)
  const status = async () => (await nodeRecord(store, node)).status
  await waitUntil(async () => (await status()) === 'unreachable', { what: 'it is unreachable' })
  expect(await agent.closed()).toBe(1006)
  await waitUntil(async () => (await status()) === 'failed', { what: 'it is failed' })
  const [ready, unreachable, failed] = await Promise.all([
    timeOfEvent(store, node, 'node.ready'),
    timeOfEvent(store, node, 'node.unreachable'),
    timeOfEvent(store, node, 'node.failed'),
  ])
  expect(unreachable - ready).toBeGreaterThan(QUICK.unreachableMs - ROUNDING_MS)
  expect(failed - ready).toBeGreaterThan(QUICK.failedMs - ROUNDING_MS)
  // The simulated agent keeps sending heartbeats while the test reads the node's status.
  const agents = await startSimulatedAgents({ url, nodes: [node] })
  expect(await status()).toBe('ready')
  const expected = ['node.ready', 'node.unreachable', 'node.failed', 'node.ready']
  expect((await eventTypes(store, tenant)).sort()).toEqual(expected.sort())
  agents.close()
})

test('a closed socket does not make a node unreachable earlier: the timeout starts with the last message', async () => {
  const { url, store } = await gatewayForTest({ times: { ...QUICK, unreachableMs: 600, failedMs: 60_000 } })
  const node = await enroll(store, await addTenant(store))
  const agent = await openRaw(url, node)
  agent.close()
  await waitUntil(async () => (await nodeRecord(store, node)).status === 'unreachable', {
    what: 'it is unreachable',
  })
  const [ready, unreachable] = await Promise.all([
    timeOfEvent(store, node, 'node.ready'),
    timeOfEvent(store, node, 'node.unreachable'),
  ])
  expect(unreachable - ready).toBeGreaterThan(600 - ROUNDING_MS)
  expect((await nodeRecord(store, node)).session.epoch).toBe(1)
})

test('a node that is disconnected for a protocol violation and stays away becomes unreachable, then failed', async () => {
  const { url, store } = await gatewayForTest({ times: QUICK })
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  const agent = await openRaw(url, node)
  agent.send('nonsense')
  expect(await agent.next('close')).toMatchObject({ code: 'protocol_violation' })
  await waitUntil(async () => (await nodeRecord(store, node)).status === 'failed', { what: 'it is failed' })
  const expected = ['node.ready', 'node.unreachable', 'node.failed']
  expect((await eventTypes(store, tenant)).sort()).toEqual(expected.sort())
})

test('a session that was stored but could not be opened becomes unreachable', async () => {
  const late = createHeldWatch()
  // The deadline suffices for a write on a busy machine; only the delayed watch exceeds it, so no session opens.
  const { url, store, gateway } = await gatewayForTest({ times: QUICK, wrap: late.wrap, deadlineMs: 4_000 })
  const node = await enroll(store, await addTenant(store))
  const agent = await dialRaw(url)
  const { nonce } = await agent.next('challenge')
  await store.fresh()
  late.hold()
  agent.send(helloOf(node, nonce))
  expect(await agent.next('close')).toMatchObject({ code: 'unavailable' })
  late.release()
  const { session } = await nodeRecord(store, node)
  expect(session).toMatchObject({ replica: 'server-1', epoch: 1 })
  expect(gateway.sessions).toBe(0)
  await waitUntil(async () => (await nodeRecord(store, node)).status === 'unreachable', {
    what: 'it is unreachable',
  })
})

test('heartbeats and pings keep a node ready, and no heartbeat reaches the store', async () => {
  const { url, store, engine, gateway } = await gatewayForTest({ times: { ...QUICK, resyncMs: 100 } })
  const tenant = await addTenant(store)
  const enrolled = await Promise.all(Array.from({ length: 20 }, () => enroll(store, tenant)))
  const agents = await startSimulatedAgents({ url, nodes: enrolled.slice(1) })
  const [pinging] = enrolled
  if (pinging === undefined) throw new Error('no node')
  const raw = await openRaw(url, pinging)
  const pings = setInterval(() => raw.socket.ping(), 50)
  const revisionNow = async () => (await engine.range({ key: 'nothing' })).revision
  const before = await revisionNow()
  const from = gateway.counts.messages
  await waitUntil(() => gateway.counts.messages - from > 20 * 19, { what: 'each has sent many heartbeats' })
  expect(await revisionNow()).toBe(before)
  expect(gateway.sessions).toBe(20)
  expect(gateway.counts.completes).toBeGreaterThan(100)
  clearInterval(pings)
  raw.close()
  agents.close()
})

test('the server replica with a live session corrects a status that another replica wrote', async () => {
  const { url, store } = await gatewayForTest({
    times: { ...QUICK, unreachableMs: 60_000, failedMs: 90_000 },
  })
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  await openRaw(url, node)
  await write(store, (transaction) => {
    const address = inTenant(tenant, nodes, node.nodeId)
    const record = transaction.get(address)
    if (record !== undefined) transaction.put(address, { ...record, status: 'failed' })
  })
  await waitUntil(async () => (await nodeRecord(store, node)).status === 'ready', {
    what: 'it is ready again',
  })
})

test('a server replica that restarts under its id gives its nodes their full timeout', async () => {
  const first = await gatewayForTest({ times: QUICK })
  const tenant = await addTenant(first.store)
  const node = await enroll(first.store, tenant)
  const agent = await openRaw(first.url, node)
  await first.gateway.close()
  expect(await agent.next('close')).toMatchObject({ code: 'server_closing' })
  expect((await nodeRecord(first.store, node)).status).toBe('ready')
  const second = await gatewayForTest({ root: first.store.keyspace.root, times: QUICK })
  await waitUntil(async () => (await nodeRecord(second.store, node)).status === 'unreachable', {
    what: 'the new process reports it unreachable',
  })
})

test('a pause of the server process does not make nodes unreachable', async () => {
  const { url, store, gateway } = await gatewayForTest({ times: QUICK })
  const tenant = await addTenant(store)
  const agents = await startSimulatedAgents({ url, nodes: [await enroll(store, tenant)] })
  const lock = new Int32Array(new SharedArrayBuffer(4))
  for (let round = 0; round < 3; round += 1) {
    const from = gateway.counts.messages
    // Blocks the whole process, like a frozen machine or a long garbage collection.
    Atomics.wait(lock, 0, 0, 600)
    await waitUntil(() => gateway.counts.messages > from + 2, { what: 'heartbeats arrive again' })
  }
  expect(await eventTypes(store, tenant)).toEqual(['node.ready'])
  agents.close()
})

test('the silence of a control-plane node without a server on it is explained like that of others', async () => {
  const { url, store } = await gatewayForTest({ times: QUICK })
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant, { controlPlane: true })
  await openRaw(url, node)
  await waitUntil(async () => (await nodeRecord(store, node)).status === 'failed', { what: 'it is failed' })
  expect(await eventTypes(store, tenant)).toEqual(['node.ready', 'node.unreachable', 'node.failed'])
})

test('a node is checked again in the transaction that declares it failed', async () => {
  const { store } = await gatewayForTest({ replica: 'other' })
  const tenant = await addTenant(store)
  const status = 'unreachable' as const
  const held = { replica: 'server-1', epoch: 1, bootId: 'boot' }
  const node = await enroll(store, tenant, { status, session: held })
  const session = newSession({ ...node, epoch: 1, reportedStatus: status }, undefined, 0)
  const context = { store, clock, replica: 'server-1', times: DEFAULT_TIMES }
  const fail = (mayFail: boolean) =>
    recordStatus(context, session, 'failed', 0, {
      countedFrom: 0,
      holding: !mayFail,
      isServing: () => false,
      mayFail: () => mayFail,
    })
  expect(await fail(false)).toBe('held')
  expect((await nodeRecord(store, node)).status).toBe('unreachable')
  expect(await fail(true)).toBe('written')
  expect((await nodeRecord(store, node)).status).toBe('failed')
})
