// Runs while nothing else does: hundreds of requests a second have a time limit, and the kernel and two real routers decide which
// of them fail. A router closes connections on which another router has just sent a request, as every reload does. A request that may be sent
// twice is answered nevertheless; any other one is sent once.

import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { startLoad, waitUntil } from '@holdfast/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Backend } from '../../ports/router.ts'
import { startRouter, startWeb, type TestRouter, trusting, type Web } from './secure-peers.fixture.ts'

const HOST = 'web.test'
const RELOADS = 20
let sender: TestRouter
let receiver: TestRouter
let web: Web
/** Passes connections on to the receiver, but closes so many of them when their first bytes have arrived. */
let relay: Server
let closes = 0
let target = 0

beforeAll(async () => {
  ;[sender, receiver, web] = await Promise.all([startRouter(), startRouter(), startWeb()])
  relay = createServer((incoming) => {
    incoming.on('error', () => {})
    incoming.once('data', (first) => {
      if (closes > 0) {
        closes -= 1
        incoming.destroy()
        return
      }
      const outgoing = connect(target, '127.0.0.1').on('error', () => incoming.destroy())
      outgoing.write(first)
      incoming.pipe(outgoing).pipe(incoming)
    })
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
})
beforeEach(() => {
  closes = 0
})
afterAll(async () => {
  relay?.close()
  web?.close()
  await Promise.all([sender?.caddy.remove(), receiver?.caddy.remove()])
})

const backend = (upstreams: Partial<Backend>, name = 'web'): Backend[] => [
  { name, routes: [{ host: HOST, path: '/', port: web.port }], local: [], peers: [], ...upstreams },
]
const portOf = (address: string): number => Number(address.split(':')[1])

/** Lets the sender forward to the receiver through the relay, by plain HTTP or by TLS. */
async function forward(by: 'HTTP' | 'TLS'): Promise<void> {
  const address = `127.0.0.1:${(relay.address() as AddressInfo).port}`
  target = portOf(by === 'TLS' ? receiver.secure : receiver.plain)
  const trusted = trusting(receiver.keys, [sender.asPeer], true)
  await receiver.apply(backend({ local: ['127.0.0.1'] }), trusted)
  if (by === 'HTTP') return sender.apply(backend({ peers: [address] }))
  const peer = { ...receiver.asPeer, address }
  return sender.apply(backend({ securePeers: [address] }), trusting(sender.keys, [peer]))
}

function send(method: string, headers: { [name: string]: string } = {}, body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      sender.edge,
      { method, headers: { host: HOST, ...headers }, agent: false },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

test.each(['HTTP', 'TLS'] as const)('a GET or HEAD is sent again by %s', async (by) => {
  await forward(by)
  for (const method of ['GET', 'HEAD']) {
    const before = web.count()
    closes = 2
    expect(await send(method)).toBe(200)
    expect([closes, web.count()]).toEqual([0, before + 1])
  }
})

const ONCE: [string, () => Promise<number>][] = [
  ['POST', () => send('POST', {}, 'paid')],
  ['POST without a body', () => send('POST')],
  ['DELETE', () => send('DELETE')],
  ['GET with a body', () => send('GET', { 'content-length': '4' }, 'find')],
  ['GET with the type of a body', () => send('GET', { 'content-type': 'application/json' })],
  ['GET with a body of unknown length', () => send('GET', { 'transfer-encoding': 'chunked' }, 'find')],
]
test.each(ONCE)('a %s is not sent again', async (_, sendOne) => {
  await forward('HTTP')
  const before = web.count()
  closes = 1
  expect([await sendOne(), closes, web.count()]).toEqual([502, 0, before])
  expect(await sendOne()).toBe(200)
})

test('no forwarded GET fails while the other router is reloaded again and again', async () => {
  await forward('HTTP')
  await sender.apply(backend({ peers: [receiver.plain] }))
  const load = startLoad({ targets: [sender.edge], host: HOST, perSecond: 300 })
  for (let at = 0; at < RELOADS; at += 1) {
    const others = backend({ local: ['127.0.0.1'] }, `other-${at}`).map((other) => ({
      ...other,
      routes: [{ host: `other-${at}.test`, path: '/', port: web.port }],
    }))
    await receiver.apply([...backend({ local: ['127.0.0.1'] }), ...others])
    await waitUntil(() => load.result().sent > (at + 1) * 30, { what: 'requests are sent between reloads' })
  }
  expect((await load.stop()).failures).toEqual([])
})
