// Some upstreams of a deployment are gone, on a real Caddy. The other upstreams answer all requests, and no request that
// reached an upstream is sent twice.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { freePort, startCaddy, startLoad, waitUntil } from '@holdfast/testkit'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Backend } from '../../ports/router.ts'
import { createCaddyAdmin } from './caddy-admin.ts'

const HOST = 'web.test'
let caddy: Awaited<ReturnType<typeof startCaddy>>
let server: Server
let edge: string
let port: number
let gonePort: number
let apply: (upstreams: Pick<Backend, 'local' | 'peers'>, port?: number) => Promise<void>
let received: string[] = []

beforeAll(async () => {
  caddy = await startCaddy()
  server = createServer(answerAll)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  gonePort = await freePort()
  const listen = `127.0.0.1:${await freePort()}`
  edge = `http://${listen}`
  const admin = createCaddyAdmin(
    {
      listen: [listen],
      peerListen: undefined,
      adminSocket: caddy.socketPath,
      upstreamsFolder: join(dirname(caddy.configFile), 'upstreams'),
      tls: { mode: 'off' },
    },
    caddy.configFile,
  )
  apply = async (upstreams, of = port) => {
    const backends = [{ name: 'web', routes: [{ host: HOST, path: '/', port: of }], ...upstreams }]
    await admin.writeUpstreams(backends)
    await admin.load(backends)
  }
})
beforeEach(() => {
  received = []
})
afterAll(async () => {
  server?.close()
  await caddy?.stop()
})

/** Echoes the request body. For /broken, reads the request and closes the connection without an answer. */
function answerAll(request: IncomingMessage, answer: ServerResponse): void {
  let text = ''
  request.on('data', (part) => {
    text += part
  })
  request.on('end', () => {
    received.push(text)
    if (request.url === '/broken') request.socket.destroy()
    else answer.end(text)
  })
}

function post(path: string, body: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${edge}${path}`, { method: 'POST', headers: { host: HOST }, agent: false })
    sent.on('error', reject)
    sent.on('response', (answer) => {
      let text = ''
      answer.on('data', (part) => {
        text += part
      })
      answer.on('end', () => resolve({ status: answer.statusCode, text }))
    })
    sent.end(body)
  })
}

const PLACES: [string, () => Pick<Backend, 'local' | 'peers'>][] = [
  ['one of two local replicas', () => ({ local: ['127.0.0.1', '127.0.0.9'], peers: [] })],
  ['one of two other nodes', () => ({ local: [], peers: [`127.0.0.1:${gonePort}`, `127.0.0.1:${port}`] })],
  [
    'two of three other nodes',
    () => ({ local: [], peers: ['127.0.0.8', '127.0.0.9', '127.0.0.1'].map((one) => `${one}:${port}`) }),
  ],
]

test.each(PLACES)('no request fails while %s cannot be reached', async (_, places) => {
  await apply(places())
  const load = startLoad({ targets: [edge], host: HOST, perSecond: 300 })
  await waitUntil(() => load.result().sent >= 300, { what: 'enough was sent' })
  expect((await load.stop()).failures).toEqual([])
  const bodies = Array.from({ length: 12 }, (_each, at) => `body ${at}`)
  const answers = await Promise.all(bodies.map((body) => post('/', body)))
  expect(answers).toEqual(bodies.map((text) => ({ status: 200, text })))
})

test.each(PLACES)('no delivered request is repeated while %s cannot be reached', async (_, places) => {
  await apply(places())
  for (const body of ['one', 'two', 'three']) expect((await post('/broken', body)).status).toBe(502)
  expect(received).toEqual(['one', 'two', 'three'])
})

/** Answers every request, but only as long as it is not paused; then its queue of connections is soon full. */
const BUSY = `
  const { createServer } = require('node:http')
  const server = createServer((_request, answer) => answer.end('late'))
  server.listen({ host: '127.0.0.1', port: Number(process.argv[1]), backlog: 1 }, () => process.send('ready'))
`
const BUSY_MS = 2_200
/** More than the queue of the paused server holds. */
const WAITING = 4

test('a request waits for the only replica, which accepts no connection for two seconds', async () => {
  const busyPort = await freePort()
  const busy = spawn(process.execPath, ['-e', BUSY, `${busyPort}`], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  onTestFinished(() => void busy.kill('SIGKILL'))
  await once(busy, 'message')
  await apply({ local: ['127.0.0.1'], peers: [] }, busyPort)
  busy.kill('SIGSTOP')
  const waiting = Array.from({ length: WAITING }, () => connect(busyPort, '127.0.0.1').on('error', () => {}))
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy()
  })
  await once(waiting[0] ?? busy, 'connect')
  let isPaused = true
  setTimeout(() => {
    isPaused = false
    busy.kill('SIGCONT')
  }, BUSY_MS)
  expect(await post('/', 'patient')).toEqual({ status: 200, text: 'late' })
  expect(isPaused).toBe(false)
})
