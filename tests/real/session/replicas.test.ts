// Two server replicas over one etcd: a node has one session, on either server replica, and both can call the node.

import type { MachineContainer } from '@holdfast/contract'
import { proveRequest } from '@holdfast/server/gateway/peers/cluster-proof'
import { secret } from '@holdfast/server/ports/secret'
import { realClock } from '@holdfast/server/system-clock'
import { readyObservation, waitUntil } from '@holdfast/testkit'
import { gatewayForTest, gatewaysForTest } from '@holdfast/testkit/session/gateways'
import { createHeldWatch } from '@holdfast/testkit/session/held-watch'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { nodeRecord, observationOf } from '@holdfast/testkit/session/read-records'
import { addTenant, anAssignment, enroll, place } from '@holdfast/testkit/session/session-records'
import { expect, test } from 'vitest'

const CONTAINER: MachineContainer = {
  id: 'c1',
  name: 'web',
  image: 'app',
  state: 'running',
  startedAt: null,
  ours: true,
}

function answerCalls(agent: OpenAgent, answer: object): void {
  agent.socket.on('message', (data) => {
    const message: { type: string; id: string } = JSON.parse(String(data))
    if (message.type === 'call') agent.send(JSON.stringify({ type: 'answer', id: message.id, ...answer }))
  })
}

test('a node that dials another server replica loses its old session on the first', async () => {
  const [one, two] = await gatewaysForTest({}, {})
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  const assignment = anAssignment(node.nodeId)
  await place(one.store, tenant, [assignment])
  const first = await openRaw(one.url, node)
  const second = await openRaw(two.url, node)
  expect(second.session).toBe(2)
  expect(second.items).toHaveLength(1)
  expect(await first.next('close')).toMatchObject({ code: 'session_replaced' })
  await waitUntil(() => one.gateway.sessions === 0, { what: 'the first replica holds it no longer' })
  expect((await nodeRecord(one.store, node)).session).toMatchObject({ replica: 'server-2', epoch: 2 })
})

test('a server replica whose watch lags writes nothing for a replaced session', async () => {
  const late = createHeldWatch()
  const [one, two] = await gatewaysForTest({ wrap: late.wrap }, {})
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  const assignment = anAssignment(node.nodeId)
  await place(one.store, tenant, [assignment])
  const first = await openRaw(one.url, node)
  const [item] = first.items
  if (item === undefined) throw new Error('nothing is assigned')
  late.hold()
  const second = await openRaw(two.url, node)
  first.send({ type: 'status', session: first.session, observations: [readyObservation(item, 1)] })
  await waitUntil(() => one.gateway.counts.statusWrites === 1, { what: 'the old session writes' })
  expect(one.gateway.sessions).toBe(1)
  late.release()
  expect(await first.next('close')).toMatchObject({ code: 'session_replaced' })
  const stored = () => observationOf(two.store, tenant, assignment.id)
  const observations = [{ ...readyObservation(item, 1), restarts: 7 }]
  second.send({ type: 'status', session: second.session, observations })
  expect(await waitUntil(stored, { what: 'the newer session writes' })).toMatchObject({ restarts: 7 })
})

test('a report does not restore an assignment that was dropped before this replica saw it', async () => {
  const late = createHeldWatch()
  const [one, two] = await gatewaysForTest({ wrap: late.wrap }, {})
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  const [dropped, kept] = [anAssignment(node.nodeId), anAssignment(node.nodeId)]
  const uid = await place(one.store, tenant, [dropped, kept])
  const agent = await openRaw(one.url, node)
  late.hold()
  await place(two.store, tenant, [kept], uid)
  const observations = agent.items.map((item) => readyObservation(item, 1))
  agent.send({ type: 'status', session: agent.session, observations })
  await waitUntil(() => one.gateway.counts.statusWrites === 1, { what: 'the reports are written' })
  late.release()
  await waitUntil(() => observationOf(two.store, tenant, kept.id), { what: 'the other report is stored' })
  expect(await observationOf(two.store, tenant, dropped.id)).toBeUndefined()
})

test('a call reaches the node from either server replica', async () => {
  const [one, two] = await gatewaysForTest({}, {})
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  answerCalls(await openRaw(one.url, node), { containers: [CONTAINER] })
  await two.store.fresh()
  for (const { gateway } of [one, two])
    expect(await gateway.callNode(tenant, node.nodeId, 'containers')).toEqual({
      kind: 'answered',
      containers: [CONTAINER],
    })
  expect(one.internalCalls).toEqual([200])
  expect(two.internalCalls).toEqual([])
})

test('the containers of an unreachable node are unknown, never empty', async () => {
  // The deadlines of calls to a node are long enough for a node that answers, even on a busy machine.
  const [one, two] = await gatewaysForTest({ times: { callMs: 2_000 } }, { times: { callMs: 4_000 } })
  const [tenant, other] = [await addTenant(one.store), await addTenant(one.store)]
  const [silent, absent, failing] = [
    await enroll(one.store, tenant),
    await enroll(one.store, tenant),
    await enroll(one.store, tenant),
  ]
  await openRaw(one.url, silent)
  answerCalls(await openRaw(one.url, failing), { error: 'the engine does not answer' })
  await two.store.fresh()
  const ask = (node: typeof silent, whose = tenant) => two.gateway.callNode(whose, node.nodeId, 'containers')
  expect(await ask(silent)).toEqual({ kind: 'unreachable' })
  expect(await ask(absent)).toEqual({ kind: 'unreachable' })
  expect(await ask(failing)).toEqual({ kind: 'failed', reason: 'the engine does not answer' })
  // Another tenant gets the answer for a node that does not exist, on both server replicas.
  expect(await ask(failing, other)).toEqual({ kind: 'unreachable' })
  expect(await one.gateway.callNode(other, failing.nodeId, 'containers')).toEqual({ kind: 'unreachable' })
  await one.stop()
  expect(await ask(failing)).toEqual({ kind: 'unreachable' })
})

test('server replicas trust each other only with the cluster key, for the signed request, now, and once', async () => {
  const { gateway, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  const path = `/internal/nodes/${node.nodeId}/call`
  const body = JSON.stringify({ tenant, method: 'containers' })
  const call = { method: 'POST', path, body }
  const prove = (changes = {}, key = 'one cluster', clock = realClock) =>
    proveRequest(secret(key), clock, { ...call, ...changes })
  const statusOf = async (authorization: string | undefined) =>
    (await gateway.internalCallHandler({ headers: { authorization }, path, body })).status
  const late = { now: () => realClock.now() - 31_000 }
  const refused = [
    undefined,
    '',
    'Cluster x',
    prove({}, 'another cluster'),
    prove({ path: '/internal/nodes/other/call' }),
    prove({ body: '{}' }),
    prove({ method: 'GET' }),
    prove({}, 'one cluster', late),
  ]
  for (const authorization of refused) expect(await statusOf(authorization)).toBe(401)
  const good = prove()
  expect(await statusOf(good)).toBe(200)
  expect(await statusOf(good)).toBe(401)
})
