// Two routers of one tenant on real Caddys, which forward to each other by mutual TLS. A request that only claims to come
// from a router is refused and reaches no container.

import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitUntil } from '@holdfast/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Backend } from '../../ports/router.ts'
import { probePeer } from './probe-peer.ts'
import {
  ask,
  askSecurely,
  newKeys,
  startRouter,
  startWeb,
  type TestRouter,
  trusting,
  type Web,
} from './secure-peers.fixture.ts'

const HOST = 'web.test'
let sender: TestRouter
let receiver: TestRouter
let web: Web

beforeAll(async () => {
  ;[sender, receiver, web] = await Promise.all([startRouter(), startRouter(), startWeb()])
})
afterAll(async () => {
  web?.close()
  await Promise.all([sender?.caddy.remove(), receiver?.caddy.remove()])
})

const backend = (upstreams: Partial<Backend>): Backend[] => [
  { name: 'web', routes: [{ host: HOST, path: '/', port: web.port }], local: [], peers: [], ...upstreams },
]
const serve = (security = trusting(receiver.keys, [sender.asPeer])) =>
  receiver.apply(backend({ local: ['127.0.0.1'] }), security)
const forward = (
  upstreams: Partial<Backend> = { securePeers: [receiver.secure] },
  peers = [receiver.asPeer],
) => sender.apply(backend(upstreams), trusting(sender.keys, peers))
const hasEnded = (request: Promise<unknown>): Promise<string> =>
  request.then(
    (answer) => JSON.stringify(answer),
    (error: Error) => `ended: ${error.message}`,
  )

describe('between two routers', () => {
  beforeEach(async () => {
    await serve()
    await forward()
  })

  test('a request is forwarded by TLS with the headers that plain HTTP has', async () => {
    const sent = { 'holdfast-hop': '2', 'x-forwarded-for': '9.9.9.9', 'x-forwarded-proto': 'https' }
    const { status, text } = await ask(`${sender.edge}/a?b=c`, HOST, sent)
    await sender.apply(backend({ peers: [receiver.plain] }))
    await receiver.apply(backend({ local: ['127.0.0.1'] }))
    const plainly = await ask(`${sender.edge}/a?b=c`, HOST, sent)
    expect({ status, text }).toEqual(plainly)
    expect(JSON.parse(text)).toEqual({
      host: HOST,
      from: '127.0.0.1, 127.0.0.1',
      proto: 'http',
      forwardedHost: HOST,
      url: '/a?b=c',
    })
  })

  test('a request is forwarded at most three times', async () => {
    // Both routers believe that the other one has a replica.
    const back = { securePeers: [sender.secure] }
    await receiver.apply(backend(back), trusting(receiver.keys, [sender.asPeer]))
    expect(await ask(sender.edge, HOST)).toEqual({ status: 503, text: 'Service Unavailable\n' })
  })

  test('the probe of the agent succeeds, and its keys are readable by the owner alone', async () => {
    expect(await probePeer(receiver.asPeer, sender.keys)).toBe(true)
    const folder = join(dirname(receiver.caddy.configFile), 'peer-keys')
    const files = readdirSync(folder).map((file) => statSync(join(folder, file)).mode & 0o777)
    expect([statSync(folder).mode & 0o777, ...files]).toEqual([0o700, 0o600])
  })

  test('a killed Caddy forwards again from its saved configuration, without an agent', async () => {
    await Promise.all([sender.caddy.kill(), receiver.caddy.kill()])
    const isServed = async () => (await ask(sender.edge, HOST)).status === 200
    await waitUntil(isServed, { what: 'requests are forwarded again' })
  })
})

describe('a request to the TLS port is refused', () => {
  const FORGED: [string, () => Promise<unknown>][] = [
    ['without a certificate', () => askSecurely(receiver, undefined)],
    ['with an unknown certificate', () => askSecurely(receiver, newKeys())],
    ['with another certificate over a known key', () => askSecurely(receiver, newKeys(sender.keys.key))],
    ["with the receiver's own certificate", () => askSecurely(receiver, receiver.keys)],
    [
      'with a known certificate and another key',
      () => askSecurely(receiver, { certificate: sender.keys.certificate, key: newKeys().key }),
    ],
    ['by TLS 1.2', () => askSecurely(receiver, sender.keys, { maxVersion: 'TLSv1.2' })],
    ['by plain HTTP', () => ask(`http://${receiver.secure}`, HOST)],
  ]
  test.each(FORGED)('%s', async (_, forge) => {
    await serve()
    const before = web.count()
    const outcome = await hasEnded(forge())
    if (!outcome.startsWith('ended: ')) expect(outcome).toContain('"status":400')
    expect(web.count()).toBe(before)
    // The same request with the right certificate is served, so the refusal is due to the certificate.
    expect((await askSecurely(receiver, sender.keys)).status).toBe(200)
    expect(web.count()).toBe(before + 1)
  })

  test('of a removed node, also if it resumes its earlier session', async () => {
    await serve()
    const tickets: Buffer[] = []
    expect((await askSecurely(receiver, sender.keys, { tickets })).status).toBe(200)
    const other = newKeys()
    const remaining = { ...sender.asPeer, name: other.name, certificates: [other.base64] }
    await serve(trusting(receiver.keys, [remaining]))
    const before = web.count()
    expect(await hasEnded(askSecurely(receiver, sender.keys))).toMatch(/^ended: /)
    for (const session of tickets)
      expect(await hasEnded(askSecurely(receiver, sender.keys, { session }))).toMatch(/^ended: /)
    expect(web.count()).toBe(before)
    expect((await askSecurely(receiver, other)).status).toBe(200)
  })

  test('of a tenant without another node, because the port is closed', async () => {
    await serve(trusting(receiver.keys, []))
    expect(await hasEnded(askSecurely(receiver, sender.keys))).toMatch(/^ended: .*ECONNREFUSED/)
  })
})

describe('a router forwards nothing', () => {
  test('to a router with another certificate, although it trusts that one at another address', async () => {
    await serve()
    const other = newKeys()
    const impostor = { ...receiver.asPeer, name: other.name, certificates: [other.base64] }
    const known = { ...receiver.asPeer, plainAddress: 'n:1', address: 'n:2' }
    await forward({ securePeers: [receiver.secure] }, [impostor, known])
    const before = web.count()
    expect((await ask(sender.edge, HOST)).status).toBe(502)
    expect(await probePeer(impostor, sender.keys)).toBe(false)
    expect(web.count()).toBe(before)
  })

  test('to an address for which it knows no certificate', async () => {
    await serve()
    await forward({ securePeers: [receiver.secure] }, [{ ...receiver.asPeer, address: 'n:2' }])
    expect((await ask(sender.edge, HOST)).status).toBe(502)
  })

  test('to a router that does not know it, and the probe of the agent fails', async () => {
    const other = newKeys()
    await serve(trusting(receiver.keys, [{ ...sender.asPeer, certificates: [other.base64] }]))
    await forward()
    const before = web.count()
    expect((await ask(sender.edge, HOST)).status).toBe(502)
    expect(await probePeer(receiver.asPeer, sender.keys)).toBe(false)
    expect(web.count()).toBe(before)
  })
})

describe('plain HTTP between routers', () => {
  const both = () => ({ securePeers: [receiver.secure], peers: [receiver.plain] })
  const accepting = (acceptPlain: boolean) => trusting(receiver.keys, [sender.asPeer], acceptPlain)

  test('is refused once all routers have certificates', async () => {
    await serve(accepting(true))
    expect((await ask(`http://${receiver.plain}`, HOST)).status).toBe(200)
    await serve(accepting(false))
    expect(await hasEnded(ask(`http://${receiver.plain}`, HOST))).toMatch(/^ended: .*ECONNREFUSED/)
    await forward({ peers: [receiver.plain] })
    expect((await ask(sender.edge, HOST)).status).toBe(502)
  })

  test('is used if the TLS port of an older router cannot be dialed', async () => {
    await receiver.apply(backend({ local: ['127.0.0.1'] }))
    await forward(both())
    expect((await ask(sender.edge, HOST)).status).toBe(200)
    await forward({ securePeers: [receiver.secure] })
    expect((await ask(sender.edge, HOST)).status).toBe(502)
  })

  test('is not used if the TLS port answers', async () => {
    await serve(accepting(false))
    await forward(both())
    expect((await ask(sender.edge, HOST)).status).toBe(200)
  })

  test('brings no trust to headers at the public address after the plain port is closed', async () => {
    await serve(accepting(false))
    const sent = { 'holdfast-hop': '2', 'x-forwarded-for': '9.9.9.9' }
    const { text } = await ask(receiver.edge, HOST, sent)
    expect(JSON.parse(text)).toMatchObject({ from: '127.0.0.1' })
    expect(JSON.parse((await askSecurely(receiver, sender.keys)).text)).toMatchObject({
      from: '9.9.9.9, 127.0.0.1',
    })
  })
})

test('a renewed certificate is accepted beside the one before it', async () => {
  const renewed = newKeys(sender.keys.key)
  const peer = { ...sender.asPeer, certificates: [renewed.base64, sender.keys.base64] }
  await serve(trusting(receiver.keys, [peer]))
  expect((await askSecurely(receiver, renewed)).status).toBe(200)
  expect((await askSecurely(receiver, sender.keys)).status).toBe(200)
})

test('a router with public certificates forwards and accepts by mutual TLS too', async () => {
  const secure = await startRouter({ mode: 'internal' })
  try {
    await secure.apply(backend({ local: ['127.0.0.1'] }), trusting(secure.keys, [sender.asPeer]))
    await forward({ securePeers: [secure.secure] }, [secure.asPeer])
    expect((await ask(sender.edge, HOST)).status).toBe(200)
    expect(await hasEnded(askSecurely(secure, newKeys()))).toMatch(/^ended: /)
    expect(await hasEnded(askSecurely(secure, undefined))).toMatch(/^ended: /)
  } finally {
    await secure.caddy.remove()
  }
})
