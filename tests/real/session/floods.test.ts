// A peer that causes too much memory use, too many connections or too many writes does not affect other nodes.

import { once } from 'node:events'
import { AGENT_PATH, AGENT_SUBPROTOCOL } from '@holdfast/contract'
import { helloOf, waitUntil } from '@holdfast/testkit'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { dialRaw, openRaw } from '@holdfast/testkit/session/raw-agent'
import { eventTypes, nodeRecord } from '@holdfast/testkit/session/read-records'
import { addTenant, enroll } from '@holdfast/testkit/session/session-records'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'

test('a ping before the hello is not answered, and ends the connection', async () => {
  const { url } = await gatewayForTest()
  const agent = await dialRaw(url)
  let pongs = 0
  agent.socket.on('pong', () => {
    pongs += 1
  })
  for (let index = 0; index < 1_000; index += 1) agent.socket.ping(Buffer.alloc(125))
  expect(await agent.closed()).toBe(1006)
  expect(pongs).toBe(0)
})

test('pings of a node are counted against its message limit', async () => {
  const { url, store, gateway } = await gatewayForTest()
  const agent = await openRaw(url, await enroll(store, await addTenant(store)))
  agent.socket.ping()
  await once(agent.socket, 'pong')
  // The agent stops reading, so that the server would have to buffer its answer to each ping.
  agent.socket.pause()
  for (let index = 0; index < 600; index += 1) agent.socket.ping(Buffer.alloc(125))
  await waitUntil(() => gateway.sessions === 0, { what: 'the node is cut' })
  agent.close()
})

/** The number of connections that may exist at the same time before their hello message. */
const PLACES = 1_000

test('silent connections do not keep other nodes from connecting', async () => {
  const { url, store } = await gatewayForTest({ times: { helloMs: 60_000 } })
  const node = await enroll(store, await addTenant(store))
  const target = new URL(AGENT_PATH, url.replace('http', 'ws'))
  const silent = Array.from({ length: PLACES }, () => new WebSocket(target, AGENT_SUBPROTOCOL))
  onTestFinished(() => {
    for (const socket of silent) socket.terminate()
  })
  await Promise.all(silent.map((socket) => once(socket, 'open')))
  expect((await openRaw(url, node)).session).toBe(1)
  // The server closed only the oldest of the silent connections, to make room for the node.
  await waitUntil(() => silent[0]?.readyState === WebSocket.CLOSED, { what: 'the oldest is gone' })
  expect(silent.filter(({ readyState }) => readyState === WebSocket.OPEN)).toHaveLength(PLACES - 1)
})

test('a node opens one session per interval, whatever it advertises, and does not affect other nodes', async () => {
  const { url, store, gateway } = await gatewayForTest({ times: { reopenMs: 60_000 } })
  const tenant = await addTenant(store)
  const [hasty, other] = [await enroll(store, tenant), await enroll(store, tenant)]
  const agents = await Promise.all(Array.from({ length: 8 }, () => dialRaw(url)))
  for (const [index, agent] of agents.entries()) {
    const { nonce } = await agent.next('challenge')
    agent.send({ ...helloOf(hasty, nonce), labels: { round: String(index) } })
  }
  const { counts } = gateway
  await waitUntil(() => counts.sessionsOpened + counts.hellosRefused === 8, { what: 'all are answered' })
  expect(counts).toMatchObject({ sessionsOpened: 1, hellosRefused: 7 })
  expect((await nodeRecord(store, hasty)).session.epoch).toBe(1)
  expect((await eventTypes(store, tenant)).sort()).toEqual(['node.labels_changed', 'node.ready'])
  expect((await openRaw(url, other)).session).toBe(1)
})

test('a node over its session rate is admitted after the interval', async () => {
  const { url, store, gateway } = await gatewayForTest({ times: { reopenMs: 1_000 } })
  const node = await enroll(store, await addTenant(store))
  await openRaw(url, node)
  await waitUntil(
    async () => {
      const agent = await dialRaw(url)
      agent.send(helloOf(node, (await agent.next('challenge')).nonce))
      return (await Promise.race([agent.next('welcome'), agent.next('close')])).type === 'welcome'
    },
    { what: 'it is let in again' },
  )
  expect(gateway.counts.hellosRefused).toBeGreaterThan(0)
})

test('a node over its limit of bytes is disconnected, however few messages it sends', async () => {
  const { url, store, gateway } = await gatewayForTest()
  const agent = await openRaw(url, await enroll(store, await addTenant(store)))
  const error = 'x'.repeat(500_000)
  for (let index = 0; index < 20; index += 1) agent.send({ type: 'answer', id: 'unsolicited', error })
  expect(await agent.next('close')).toMatchObject({ code: 'too_many_messages' })
  expect(gateway.counts.messages).toBeLessThan(30)
})
