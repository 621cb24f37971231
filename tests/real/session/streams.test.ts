// Log and exec streams in agent sessions, with scripted agents: credit, limits, proofs, and the end of a session.

import { STREAM_CHANNELS, STREAMS_PER_NODE, type TenantId } from '@holdfast/contract'
import { proveRequest } from '@holdfast/server/gateway/peers/cluster-proof'
import { frameOf } from '@holdfast/server/gateway/streams/frames'
import type { StreamEnd, StreamRequest } from '@holdfast/server/ports/node-streams'
import { secret } from '@holdfast/server/ports/secret'
import { realClock } from '@holdfast/server/system-clock'
import { waitUntil } from '@holdfast/testkit'
import { gatewaysForTest } from '@holdfast/testkit/session/gateways'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { addTenant, anAssignment, type EnrolledNode, enroll } from '@holdfast/testkit/session/session-records'
import type { TestGateway } from '@holdfast/testkit/session/start-gateway'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'

const { stdin, stdout } = STREAM_CHANNELS

async function oneNode() {
  const [one, two] = await gatewaysForTest({}, {})
  const tenant = await addTenant(one.store)
  const node = await enroll(one.store, tenant)
  const agent = await openRaw(one.url, node)
  await two.store.fresh()
  return { one, two, tenant, node, agent }
}

function open({ gateway }: TestGateway, tenant: TenantId, { nodeId }: EnrolledNode) {
  const request: StreamRequest = { kind: 'logs', assignmentId: anAssignment(nodeId).id }
  const seen = { bytes: '', room: 0, ends: [] as StreamEnd[] }
  const stream = gateway.openStream(tenant, nodeId, request, {
    data: (_channel, payload) => {
      seen.bytes += payload.toString('utf8')
    },
    room: (bytes) => {
      seen.room += bytes
    },
    end: (end) => seen.ends.push(end),
  })
  onTestFinished(() => stream.close())
  const ended = () => waitUntil(() => seen.ends[0], { what: 'the stream has ended' })
  return { stream, seen, ended }
}

const frames = (agent: OpenAgent): Buffer[] => {
  const taken: Buffer[] = []
  agent.socket.on('message', (data: Buffer, isBinary: boolean) => isBinary && taken.push(data))
  return taken
}

test('bytes, credit and the end of a stream pass through both server replicas alike', async () => {
  const { one, two, tenant, node, agent } = await oneNode()
  for (const place of [one, two]) {
    const { stream, seen, ended } = open(place, tenant, node)
    stream.credit(1000)
    const { stream: id } = await agent.next('open')
    expect(await agent.next('credit')).toMatchObject({ stream: id, bytes: 1000 })
    agent.socket.send(frameOf(stdout, id, Buffer.from('hello')))
    await waitUntil(() => seen.bytes === 'hello', { what: 'the bytes have come' })
    agent.send({ type: 'credit', stream: id, bytes: 50 })
    await waitUntil(() => seen.room === 50 && stream.room === 50, { what: 'there is room' })
    const taken = frames(agent)
    stream.send(stdin, Buffer.from('in'))
    await waitUntil(() => taken.length === 1, { what: 'the input has come' })
    expect(taken[0]).toEqual(frameOf(stdin, id, Buffer.from('in')))
    expect(stream.room).toBe(43)
    agent.send({ type: 'end', stream: id, exitCode: 4 })
    expect(await ended()).toEqual({ exitCode: 4 })
  }
})

test.each([0, 1])('the end of a session ends its streams with a reason, through replica %i', async (at) => {
  const { one, two, tenant, node, agent } = await oneNode()
  const { ended } = open(at === 0 ? one : two, tenant, node)
  await agent.next('open')
  agent.close()
  expect(await ended()).toEqual({ error: 'node_unreachable' })
})

test('the node is informed when a stream reader disconnects, through either server replica', async () => {
  const { one, two, tenant, node, agent } = await oneNode()
  for (const place of [one, two]) {
    const { stream, seen } = open(place, tenant, node)
    const { stream: id } = await agent.next('open')
    stream.close()
    expect(await agent.next('end')).toMatchObject({ stream: id })
    // Frames that were already under way when the stream ended are no protocol violation.
    agent.socket.send(frameOf(stdout, id, Buffer.from('late')))
    expect(seen).toMatchObject({ bytes: '', ends: [] })
  }
  expect(one.gateway.sessions).toBe(1)
})

test('a frame beyond its credit is a protocol violation', async () => {
  const { one, tenant, node, agent } = await oneNode()
  const { stream, ended } = open(one, tenant, node)
  stream.credit(10)
  const { stream: id } = await agent.next('open')
  agent.socket.send(frameOf(stdout, id, Buffer.from('123456')))
  expect(await agent.next('close')).toMatchObject({ code: 'protocol_violation' })
  expect(await ended()).toEqual({ error: 'node_unreachable' })
})

test('unsolicited frames are counted as messages', async () => {
  const { agent } = await oneNode()
  for (let count = 0; count < 600; count += 1) agent.socket.send(frameOf(stdout, 7, Buffer.from('x')))
  expect(await agent.next('close')).toMatchObject({ code: 'too_many_messages' })
})

test('requested frames are not counted: a stream may carry more than the message limit', async () => {
  const { one, tenant, node, agent } = await oneNode()
  const { stream, seen } = open(one, tenant, node)
  stream.credit(16 * 1024 * 1024)
  const { stream: id } = await agent.next('open')
  for (let count = 0; count < 700; count += 1)
    agent.socket.send(frameOf(stdout, id, Buffer.alloc(16_000, 'x')))
  await waitUntil(() => seen.bytes.length === 700 * 16_000, { what: 'all has come' })
  expect(one.gateway.sessions).toBe(1)
})

test('the number of streams of a node is limited', async () => {
  const { one, two, tenant, node } = await oneNode()
  for (let count = 0; count < STREAMS_PER_NODE; count += 1) open(one, tenant, node)
  for (const place of [one, two])
    expect(await open(place, tenant, node).ended()).toEqual({ error: 'too_many_streams' })
})

test('a message of a type that only a newer agent knows is ignored', async () => {
  const { one, agent } = await oneNode()
  agent.send(JSON.stringify({ type: 'dance', partners: 2 }))
  agent.send({ type: 'heartbeat', session: agent.session })
  await waitUntil(() => one.gateway.counts.unknownMessages === 1, { what: 'it is counted' })
  expect(one.gateway.sessions).toBe(1)
  for (let count = 0; count < 600; count += 1) agent.send(JSON.stringify({ type: 'dance' }))
  expect(await agent.next('close')).toMatchObject({ code: 'too_many_messages' })
})

test("another tenant's node does not exist for streams, on either server replica", async () => {
  const { one, two, node } = await oneNode()
  const stranger = await addTenant(one.store)
  await two.store.fresh()
  for (const place of [one, two])
    expect(await open(place, stranger, node).ended()).toEqual({ error: 'node_unreachable' })
})

test('only holders of the cluster key may open a stream, once with each proof and for the signed request', async () => {
  const { one, tenant, node, agent } = await oneNode()
  const path = `/internal/nodes/${node.nodeId}/stream`
  const body = JSON.stringify({ tenant, kind: 'logs', assignmentId: anAssignment(node.nodeId).id })
  const proof = (key: string, proven = body) =>
    proveRequest(secret(key), realClock, { method: 'GET', path, body: proven })
  const dial = (authorization: string, sent = body) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(new URL(path, one.url.replace(/^http/, 'ws')), 'holdfast.stream.v1', {
        headers: { authorization, 'x-holdfast-stream': Buffer.from(sent).toString('base64url') },
      })
      onTestFinished(() => socket.terminate())
      socket.on('open', () => resolve(101))
      socket.on('error', () => {})
      socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode))
    })
  const other = JSON.stringify({ tenant: await addTenant(one.store), kind: 'logs', assignmentId: 'rep_1' })
  expect(await dial('')).toBe(401)
  expect(await dial(proof('another cluster'))).toBe(401)
  expect(await dial(proof('one cluster'), other)).toBe(401)
  expect(await dial(proof('one cluster', other), other)).toBe(404)
  expect(await dial(proof('one cluster', '{}'), '{}')).toBe(400)
  const good = proof('one cluster')
  expect(await dial(good)).toBe(101)
  expect(await dial(good)).toBe(401)
  expect(agent.heard.filter(({ type }) => type === 'open')).toHaveLength(1)
})
