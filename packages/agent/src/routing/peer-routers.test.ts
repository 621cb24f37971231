// Tests which peers are reached by mutual TLS and which by plain HTTP, the certificates of routers, and their renewal.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeId, TenantRouter } from '@holdfast/contract'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { afterAll, describe, expect, test } from 'vitest'
import { newKeys } from '../adapters/caddy/secure-peers.fixture.ts'
import type { PeerRouter } from '../ports/router.ts'
import { createPeerRouters } from './peer-routers.ts'
import { createPeerProver } from './prove-peers.ts'
import { makeRouterCertificate, readRouterCertificate } from './router-certificate.ts'
import { openRouterKeys } from './router-keys.ts'

const log = pino({ level: 'silent' })
const OWN = newKeys()
const [A, B] = [newKeys(), newKeys()]
const identity = () => ({ key: OWN.key, certificate: OWN.certificate })
const router = (n: number, over: Partial<TenantRouter> = {}): TenantRouter => ({
  address: `n${n}:1`,
  secureAddress: `n${n}:2`,
  certificates: [(n === 1 ? A : B).base64],
  ...over,
})
const proven = () => true

describe('peers', () => {
  const choose = (
    routers: { plain?: boolean; others?: TenantRouter[] } | undefined,
    isProven: (peer: PeerRouter) => boolean = proven,
  ) => {
    const peers = createPeerRouters(identity)
    peers.apply({ complete: true, ...(routers === undefined ? {} : { routers }) })
    const { peers: plain, securePeers } = peers.choose(['n1:1', 'n2:1'], isProven)
    return `${plain} | ${securePeers}`
  }
  const both = [router(1), router(2)]
  const older = { address: 'n2:1', certificates: [] }
  const PLAIN = 'n1:1,n2:1 | '
  test.each<[string, string, string]>([
    ['of an older server', choose(undefined), PLAIN],
    ['with certificates, all proven', choose({ plain: true, others: both }), 'n1:1,n2:1 | n1:2,n2:2'],
    [
      'of which one is not proven',
      choose({ plain: true, others: both }, (peer) => peer.address === 'n1:2'),
      PLAIN,
    ],
    ['of which one has an older version', choose({ plain: true, others: [router(1), older] }), PLAIN],
    ['after plain HTTP, proven or not', choose({ plain: false, others: both }, () => false), ' | n1:2,n2:2'],
    [
      'after plain HTTP, one without a certificate',
      choose({ plain: false, others: [router(1), older] }),
      ' | n1:2',
    ],
    [
      'with an invalid address',
      choose({ plain: false, others: [router(1), router(2, { secureAddress: '{x}:1' })] }),
      ' | n1:2',
    ],
    [
      'with an invalid certificate',
      choose({ plain: false, others: [router(1), router(2, { certificates: ['x'] })] }),
      ' | n1:2',
    ],
  ])('%s', (_, chosen, expected) => {
    expect(chosen).toBe(expected)
  })

  test('are kept until the server sends others, and an older server brings plain HTTP back', () => {
    const peers = createPeerRouters(identity)
    expect([peers.known(), peers.security()]).toEqual([undefined, undefined])
    peers.apply({ complete: true, routers: { plain: false, others: [router(1)] } })
    peers.apply({ complete: true, routers: {} })
    peers.apply({ complete: false })
    expect(peers.security()).toMatchObject({ acceptPlain: false, peers: [{ address: 'n1:2', name: A.name }] })
    peers.apply({ complete: true })
    expect(peers.security()).toMatchObject({ acceptPlain: true, peers: [{ address: 'n1:2' }] })
    peers.apply({ complete: false, routers: { plain: false, others: [] } })
    expect(peers.known()).toEqual({ plain: false, others: [] })
    expect(peers.security()).toMatchObject({ acceptPlain: false, peers: [] })
  })

  test('that send by TLS only are trusted, and nothing is forwarded to them by TLS', () => {
    const peers = createPeerRouters(identity)
    const { secureAddress: _none, ...sender } = router(1)
    peers.apply({ complete: true, routers: { plain: true, others: [sender] } })
    expect(peers.security()?.peers).toMatchObject([{ certificates: [A.base64], address: undefined }])
    expect(peers.choose(['n1:1'], proven)).toEqual({ peers: ['n1:1'], securePeers: [] })
  })

  test('are proven by an answer, once, and again after a new certificate', async () => {
    const probed: string[] = []
    const answers = new Map([['n1:2', true]])
    let updates = 0
    const prover = createPeerProver({
      probe: async ({ address = '' }) => {
        probed.push(address)
        return answers.get(address) ?? false
      },
      onProven: () => {
        updates += 1
      },
      log,
    })
    const peers = createPeerRouters(identity)
    const load = (others: TenantRouter[]): PeerRouter[] => {
      peers.apply({ complete: true, routers: { plain: true, others } })
      const security = peers.security()
      if (security !== undefined) prover.prove(security)
      return [...(security?.peers ?? [])]
    }
    const loaded = load([router(1), router(2)])
    expect(loaded.map(prover.isProven)).toEqual([false, false])
    await waitUntil(() => updates === 1 && probed.length === 2, { what: 'the first peer is proven' })
    expect(load([router(1), router(2)]).map(prover.isProven)).toEqual([true, false])
    expect(probed).toEqual(['n1:2', 'n2:2'])
    expect(load([router(1, { certificates: [newKeys().base64] })]).map(prover.isProven)).toEqual([false])
    await waitUntil(() => updates === 2, { what: 'the new certificate is proven' })
    prover.close()
  })
})

describe('the certificate of a router', () => {
  test('is one that other programs can read and verify', () => {
    const certificate = new X509Certificate(Buffer.from(A.base64, 'base64'))
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate).toMatchObject({ ca: false, subjectAltName: `DNS:${A.name}`, subject: `CN=${A.name}` })
    expect(A.name).toMatch(/^[0-9a-f]{32}\.router\.holdfast\.internal$/)
    expect(Buffer.from(A.base64, 'base64').length).toBeLessThan(600)
  })

  test('keeps its name when it is renewed, also beyond 2049', () => {
    const endsMs = Date.UTC(2051, 1, 3)
    const renewed = makeRouterCertificate(createPrivateKey(A.key), endsMs)
    expect(readRouterCertificate(renewed)).toMatchObject({ name: A.name, endsMs })
  })

  test('is refused with the name of another key, with further bytes, or if it is none', () => {
    // The name occurs twice: as subject and as alternative name. The signature does not matter, because it is pinned.
    const bytes = Buffer.from(A.base64, 'base64').toString('latin1').replaceAll(A.name, B.name)
    const forged = Buffer.from(bytes, 'latin1')
    expect(new X509Certificate(forged).subjectAltName).toBe(`DNS:${B.name}`)
    const longer = Buffer.concat([Buffer.from(A.base64, 'base64'), Buffer.from([0])])
    for (const one of [forged, longer, Buffer.from('x')])
      expect(readRouterCertificate(one.toString('base64'))).toBeUndefined()
  })
})

describe('the keys of a router', () => {
  const { path: folder, remove } = makeTempFolder('router-keys')
  afterAll(remove)
  const file = join(folder, 'router-keys.json')
  const DAY_MS = 86_400_000
  const begun = Date.now()
  const open = async (days: number, generation = 1) => {
    const keys = await openRouterKeys(
      folder,
      { nodeId: 'node_1' as NodeId, generation },
      log,
      () => begun + days * DAY_MS,
    )
    keys.close()
    const pem = (base64: string): string => readRouterCertificate(base64)?.pem ?? ''
    return { announced: pem(keys.announced()), ...keys.identity() }
  }

  test('are made once, and a new certificate is announced long before it is presented', async () => {
    const first = await open(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(first.certificate).toBe(first.announced)
    expect(await open(500)).toEqual(first)
    const renewed = await open(600)
    expect(renewed).toMatchObject({ key: first.key, certificate: first.certificate })
    expect(renewed.announced).not.toBe(first.announced)
    expect(await open(1000)).toEqual(renewed)
    expect(await open(1010)).toEqual({ ...renewed, certificate: renewed.announced })
  })

  test('of another enrollment or of a damaged file are replaced', async () => {
    const before = await open(0)
    const again = await open(0, 2)
    expect(again.key).not.toBe(before.key)
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20))
    expect((await open(0, 2)).key).not.toBe(again.key)
  })
})
