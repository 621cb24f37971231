import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitUntil } from '../wait-until.ts'
import { type ChaosProxy, startChaosProxy } from './chaos-proxy.ts'

let server: Server
let proxy: ChaosProxy
const atServer = new Set<Socket>()
const clients: TestClient[] = []

interface TestClient {
  readonly socket: Socket
  text(): string
  closed(): boolean
}

beforeEach(async () => {
  server = createServer((socket) => {
    atServer.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => atServer.delete(socket))
    socket.on('data', (bytes) => socket.write(bytes))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  proxy = await startChaosProxy('127.0.0.1', port)
})

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy()
  await proxy.stop()
  server.close()
})

async function open(): Promise<TestClient> {
  const socket = connect(proxy.port, proxy.host)
  let text = ''
  let closed = false
  socket.on('data', (bytes) => {
    text += bytes.toString()
  })
  socket.on('error', () => {})
  socket.once('close', () => {
    closed = true
  })
  await once(socket, 'connect').catch(() => {})
  const client = { socket, text: () => text, closed: () => closed }
  clients.push(client)
  return client
}

const receives = (client: TestClient, text: string) =>
  waitUntil(() => client.text() === text, { what: `"${text}" arrives` })
const closes = (client: TestClient) => waitUntil(client.closed, { what: 'it closes' })

test('passes bytes both ways and closes both sides when one ends', async () => {
  const client = await open()
  client.socket.write('hello')
  await receives(client, 'hello')
  client.socket.end()
  await closes(client)
  await waitUntil(() => proxy.connectionCount() === 0, { what: 'no connection is left' })
})

test('cutAll resets open connections and serves new ones', async () => {
  const first = await open()
  first.socket.write('a')
  await receives(first, 'a')
  proxy.cutAll()
  await closes(first)
  const second = await open()
  second.socket.write('b')
  await receives(second, 'b')
})

test('a stall towards the client delays the response and loses nothing', async () => {
  const client = await open()
  proxy.stall('toClient')
  client.socket.write('held')
  await waitUntil(() => [...atServer].some((one) => one.bytesRead === 4), {
    what: 'the server has received it',
  })
  expect(client.text()).toBe('')
  proxy.resume()
  await receives(client, 'held')
})

test('cutAfterBytes delivers exactly the given number of bytes', async () => {
  const client = await open()
  proxy.cutAfterBytes(5)
  client.socket.write('0123456789')
  await closes(client)
  expect(client.text()).toBe('01234')
})

test('a delay delivers bytes late and in order', async () => {
  const client = await open()
  proxy.delay(60, 'toClient')
  let isLate = false
  setTimeout(() => {
    isLate = true
  }, 55)
  client.socket.write('a')
  client.socket.write('b')
  await receives(client, 'ab')
  expect(isLate).toBe(true)
})

test('halfOpen leaves the client with a dead connection and closes the one to the server', async () => {
  const client = await open()
  client.socket.write('a')
  await receives(client, 'a')
  proxy.halfOpen()
  await waitUntil(() => atServer.size === 0, { what: 'the server lost the connection' })
  client.socket.write('lost')
  const other = await open()
  other.socket.write('b')
  await receives(other, 'b')
  expect(client.closed()).toBe(false)
  expect(client.text()).toBe('a')
})

test('refuseNew resets new connections until resume', async () => {
  proxy.refuseNew()
  const turnedAway = await open()
  await closes(turnedAway)
  proxy.resume()
  const client = await open()
  client.socket.write('a')
  await receives(client, 'a')
})
