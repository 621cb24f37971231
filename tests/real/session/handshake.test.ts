// Which nodes get a session, and which records a session may see.

import { request } from 'node:http'
import { ownerOf } from '@holdfast/contract'
import { nodes } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { helloOf, makeSimulatedKeys, waitUntil } from '@holdfast/testkit'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { dialRaw, openRaw } from '@holdfast/testkit/session/raw-agent'
import { eventTypes, nodeRecord, storedEvents } from '@holdfast/testkit/session/read-records'
import { addTenant, anAssignment, enroll, place, write } from '@holdfast/testkit/session/session-records'
import { expect, test } from 'vitest'

test('a node that proves its key gets a session, a tenant and its complete set', async () => {
  const { url, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  const assignment = anAssignment(node.nodeId)
  const uid = await place(store, tenant, [assignment])
  const agent = await openRaw(url, node, { engine: { version: '30.1', apiVersion: '1.60' } })
  expect(agent.session).toBe(1)
  expect(agent.items).toMatchObject([
    { assignmentId: assignment.id, owner: ownerOf('deployment', uid), generation: 1, desired: 'running' },
  ])
  const record = await nodeRecord(store, node)
  expect(record.session).toEqual({ replica: 'server-1', epoch: 1, bootId: 'boot-1' })
  expect(record).toMatchObject({ status: 'ready', engine: { version: '30.1' } })
  expect(await eventTypes(store, tenant)).toEqual(['node.ready'])
})

test('an unknown node, a wrong key, an old generation and a stale nonce are rejected with the same text', async () => {
  const { url, store, gateway } = await gatewayForTest()
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant, { generation: 2 })
  const other = await enroll(store, tenant)
  const before = await nodeRecord(store, node)
  // An id with another last character, whichever character the enrolled node has.
  const unknownId = node.nodeId.replace(/.$/, (last) => (last === '0' ? '1' : '0')) as typeof node.nodeId
  const attempts = [
    { ...node, nodeId: unknownId },
    { ...node, identityKey: makeSimulatedKeys().identityKey },
    { ...node, generation: 1 },
    { ...node, nodeId: other.nodeId },
    { ...node, nonce: 'of-yesterday' },
  ]
  const answers = []
  for (const attempt of attempts) {
    const agent = await dialRaw(url)
    const { nonce } = await agent.next('challenge')
    agent.send(helloOf(attempt, 'nonce' in attempt ? attempt.nonce : nonce))
    answers.push([await agent.next('close'), await agent.closed()])
    expect(agent.heard.map(({ type }) => type)).toEqual(['challenge', 'close'])
  }
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(answers[0]).toEqual([expect.objectContaining({ code: 'session_refused' }), 1008])
  expect(gateway.counts).toMatchObject({ hellosRefused: 5, sessionsOpened: 0 })
  expect(await nodeRecord(store, node)).toEqual(before)
})

test('a replayed hello opens no session', async () => {
  const { url, store } = await gatewayForTest()
  const node = await enroll(store, await addTenant(store))
  const first = await dialRaw(url)
  const recorded = helloOf(node, (await first.next('challenge')).nonce)
  first.send(recorded)
  await first.next('welcome')
  const replay = await dialRaw(url)
  replay.send(recorded)
  expect(await replay.next('close')).toMatchObject({ code: 'session_refused' })
})

test('a stolen key reads the assignments of its own node and no other', async () => {
  const { url, store } = await gatewayForTest()
  const [mine, theirs] = [await addTenant(store), await addTenant(store)]
  const [stolen, sibling, foreign] = [
    await enroll(store, mine),
    await enroll(store, mine),
    await enroll(store, theirs),
  ]
  const own = anAssignment(stolen.nodeId)
  await place(store, mine, [own, anAssignment(sibling.nodeId)])
  await place(store, theirs, [anAssignment(foreign.nodeId)])
  // A record of another tenant that names this node must not be sent to the node.
  await place(store, theirs, [anAssignment(stolen.nodeId)])
  const agent = await openRaw(url, stolen)
  expect(agent.items.map(({ assignmentId }) => assignmentId)).toEqual([own.id])
  await place(store, theirs, [anAssignment(stolen.nodeId)])
  await place(store, mine, [anAssignment(sibling.nodeId)])
  const later = anAssignment(stolen.nodeId)
  await place(store, mine, [later])
  const seen = await waitUntil(
    () => {
      const ids = agent.heard.flatMap((message) =>
        message.type === 'delta' ? [...message.items.map((item) => item.assignmentId), ...message.gone] : [],
      )
      return ids.includes(later.id) && ids
    },
    { what: 'its own change has come' },
  )
  expect(seen).toEqual([later.id])
  agent.send({ type: 'call', id: '1', method: 'registry', host: 'other.example' })
  expect(await agent.next('answer')).toEqual({ type: 'answer', id: '1', error: 'host_not_in_use' })
})

test('a second session ends the first, and later messages of the first change nothing', async () => {
  const { url, store, gateway } = await gatewayForTest()
  const node = await enroll(store, await addTenant(store))
  const first = await openRaw(url, node)
  const second = await openRaw(url, node)
  expect(second.session).toBe(2)
  expect(await first.next('close')).toMatchObject({ code: 'session_replaced' })
  expect(await first.closed()).toBe(1008)
  expect(gateway.sessions).toBe(1)
})

test('a node that enrolls again, or is removed, loses its session', async () => {
  const { url, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const [enrolledAgain, removed] = [await enroll(store, tenant), await enroll(store, tenant)]
  const agents = [await openRaw(url, enrolledAgain), await openRaw(url, removed)]
  await write(store, (transaction) => {
    const address = inTenant(tenant, nodes, enrolledAgain.nodeId)
    const record = transaction.get(address)
    if (record !== undefined) transaction.put(address, { ...record, generation: 2 })
    transaction.delete(inTenant(tenant, nodes, removed.nodeId))
  })
  for (const agent of agents) expect(await agent.next('close')).toMatchObject({ code: 'session_replaced' })
})

test('labels that are not attested are ignored and reported once', async () => {
  const { url, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant, { attested: { country: 'DE' } })
  const labels = {
    'holdfast.io/country': 'US',
    'holdfast.io/geo-region': 'na',
    disk: 'ssd',
    'bad key\n': 'x',
  }
  await openRaw(url, node, { labels })
  expect((await nodeRecord(store, node)).labels).toEqual({ disk: 'ssd' })
  const refusals = async () =>
    (await storedEvents(store, tenant)).filter(({ type }) => type === 'node.labels_refused')
  const first = await refusals()
  await openRaw(url, node, { labels })
  expect((await eventTypes(store, tenant)).sort()).toEqual([
    'node.labels_changed',
    'node.labels_refused',
    'node.ready',
  ])
  expect(await refusals()).toEqual(first)
  await openRaw(url, node, { labels: { 'holdfast.io/country': 'DE' } })
  expect((await nodeRecord(store, node)).labels).toEqual({ 'holdfast.io/country': 'DE' })
  expect(await refusals()).toEqual(first)
  // A false label that returns after the true label is refused again, with a new event.
  await openRaw(url, node, { labels })
  expect(await refusals()).toHaveLength(2)
})

test.each([
  ['no JSON', 'hello'],
  ['no type', '{}'],
  ['a type that only the server sends', '{"type":"welcome","session":1}'],
  ['a heartbeat before the hello', '{"type":"heartbeat","session":1}'],
  ['an incomplete hello', '{"type":"hello","nodeId":"x","__proto__":{}}'],
])('a message with %s ends the connection', async (_what, sent) => {
  const { url } = await gatewayForTest()
  const agent = await dialRaw(url)
  agent.send(sent)
  expect(await agent.next('close')).toMatchObject({ code: 'protocol_violation' })
  expect(await agent.closed()).toBe(1008)
})

test('unknown fields of a newer agent are ignored, and the session continues', async () => {
  const { url, store, gateway } = await gatewayForTest()
  const node = await enroll(store, await addTenant(store))
  const agent = await dialRaw(url)
  const hello = helloOf(node, (await agent.next('challenge')).nonce)
  const newer = { ...hello, colour: 'red', engine: { ...hello.engine, rootless: true } }
  agent.send(JSON.stringify(newer))
  const { session } = await agent.next('welcome')
  expect((await nodeRecord(store, node)).engine).toMatchObject(hello.engine)
  agent.send(JSON.stringify({ type: 'heartbeat', session, load: [1, 2] }))
  agent.send(JSON.stringify({ type: 'call', id: 'after', method: 'registry', host: 'x', why: null }))
  await agent.next('answer')
  expect(gateway.counts).toMatchObject({ violations: 0, sessionsCut: 0 })
})

test('a connection without a hello in time is closed', async () => {
  const { url } = await gatewayForTest({ times: { helloMs: 100, sweepMs: 20 } })
  const agent = await dialRaw(url)
  expect(await agent.next('close')).toMatchObject({ code: 'session_refused' })
})

test('a node that sends messages without end is disconnected', async () => {
  const { url, store } = await gatewayForTest()
  const agent = await openRaw(url, await enroll(store, await addTenant(store)))
  for (let index = 0; index < 600; index += 1) agent.send({ type: 'heartbeat', session: agent.session })
  expect(await agent.next('close')).toMatchObject({ code: 'too_many_messages' })
})

test('other paths and other protocols are rejected before the upgrade', async () => {
  const { url } = await gatewayForTest()
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const statusOf = (path: string, protocol: string) =>
    new Promise((resolve, reject) => {
      const headers = {
        ...upgrade,
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'sec-websocket-protocol': protocol,
      }
      request(new URL(path, url), { headers })
        .on('response', (response) => resolve(response.statusCode))
        .on('error', reject)
        .end()
    })
  expect(await statusOf('/api/v1/agent', 'holdfast.agent.v1')).toBe(404)
  expect(await statusOf('/api/v1/agent/session', 'chat')).toBe(400)
})
