// On a real Caddy: of the places that a deployment is led to some are gone. Whoever asks gets an answer from one that is
// there, and nothing that was sent is sent twice.

import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { freePort, startCaddy, startLoad, waitUntil } from '@holdfast/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Backend } from '../../ports/router.ts'
import { createCaddyAdmin } from './caddy-admin.ts'

const HOST = 'web.test'
let caddy: Awaited<ReturnType<typeof startCaddy>>
let server: Server
let edge: string
let port: number
let gonePort: number
let tell: (led: Pick<Backend, 'local' | 'peers'>) => Promise<void>
let asked: string[] = []

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
      ...{ listen: [listen], peerListen: undefined, adminSocket: caddy.socketPath },
      ...{ upstreamsFolder: join(dirname(caddy.configFile), 'upstreams'), tls: { mode: 'off' } },
    },
    caddy.configFile,
  )
  tell = async (led) => {
    const backends = [{ name: 'web', routes: [{ host: HOST, path: '/', port }], ...led }]
    await admin.writeUpstreams(backends)
    await admin.load(backends)
  }
})
beforeEach(() => {
  asked = []
})
afterAll(async () => {
  server?.close()
  await caddy?.stop()
})

/** Says what it was sent; on /broken it takes the request and hangs up. */
function answerAll(request: IncomingMessage, answer: ServerResponse): void {
  let text = ''
  request.on('data', (part) => {
    text += part
  })
  request.on('end', () => {
    asked.push(text)
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
  ['of two replicas here one', () => ({ local: ['127.0.0.1', '127.0.0.9'], peers: [] })],
  ['of two other nodes one', () => ({ local: [], peers: [`127.0.0.1:${gonePort}`, `127.0.0.1:${port}`] })],
  [
    'of three other nodes two',
    () => ({ local: [], peers: ['127.0.0.8', '127.0.0.9', '127.0.0.1'].map((one) => `${one}:${port}`) }),
  ],
]

test.each(PLACES)('%s is gone: no request fails', async (_, places) => {
  await tell(places())
  const load = startLoad({ targets: [edge], host: HOST, perSecond: 300 })
  await waitUntil(() => load.result().sent >= 300, { what: 'enough was sent' })
  expect((await load.stop()).failures).toEqual([])
  const bodies = Array.from({ length: 12 }, (_each, at) => `body ${at}`)
  const answers = await Promise.all(bodies.map((body) => post('/', body)))
  expect(answers).toEqual(bodies.map((text) => ({ status: 200, text })))
})

test.each(PLACES)('%s is gone: what was sent is not sent again', async (_, places) => {
  await tell(places())
  for (const body of ['one', 'two', 'three']) expect((await post('/broken', body)).status).toBe(502)
  expect(asked).toEqual(['one', 'two', 'three'])
})
