// Tests what the record of a node states about mutual TLS between routers: which certificates a hello may state, and how
// the state changes from session to session, also through servers that do not know it.

import { execFileSync } from 'node:child_process'
import type { Hello, NodeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { StoredNode } from '../../store/records.ts'
import { aNode } from '../routes/route-table.fixture.ts'
import { isCertificate, isSecure, nextSecureRouter, statedRouter } from './secure-router.ts'

const NOW = Date.now()
const HOUR_MS = 3_600_000

/** A certificate of openssl, as base64 of DER. */
function certificate(key: readonly string[], isAuthority = 'FALSE'): string {
  const extension = ['-addext', `basicConstraints=critical,CA:${isAuthority}`]
  const args = [
    'req',
    '-x509',
    '-newkey',
    ...key,
    '-nodes',
    '-keyout',
    '/dev/null',
    '-subj',
    '/CN=x',
    '-days',
    '2',
  ]
  return execFileSync('openssl', [...args, ...extension, '-outform', 'DER'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString('base64')
}
const EC = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
const [A, B, C] = [certificate(EC), certificate(EC), certificate(EC)]
const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64')

describe('a certificate in a hello', () => {
  test('is accepted if it is one certificate over a P-256 key', () => {
    expect(isCertificate(A, NOW)).toBe(true)
  })

  const INVALID: [string, string][] = [
    ['is empty', ''],
    ['is no base64', '-----BEGIN CERTIFICATE-----'],
    ['is no certificate', Buffer.from('x').toString('base64')],
    ['is cut off', bytes(A).subarray(0, -1).toString('base64')],
    ['is two certificates', Buffer.concat([bytes(A), bytes(B)]).toString('base64')],
    ['has further bytes', Buffer.concat([bytes(A), Buffer.from([0])]).toString('base64')],
    ['is longer than 2 KiB', bytes(A).toString('base64') + 'A'.repeat(2048)],
    ['has another curve', certificate(['ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1'])],
    ['has an RSA key', certificate(['rsa:2048'])],
    ['is an authority', certificate(EC, 'TRUE')],
  ]
  test.each(INVALID)('is refused if it %s', (_, text) => {
    expect(isCertificate(text, NOW)).toBe(false)
  })

  test('is refused if it has expired', () => {
    expect(isCertificate(A, NOW + 49 * HOUR_MS)).toBe(false)
  })

  test('is used only with a valid secure address and a valid peer address', () => {
    const hello = (over: object) =>
      statedRouter(
        { peerAddress: 'a:1', securePeerAddress: 'a:2', peerCertificate: A, ...over } as Hello,
        NOW,
      )
    expect(hello({})).toEqual({ address: 'a:2', certificate: A })
    for (const over of [{ peerAddress: 'a' }, { securePeerAddress: 'a' }, { peerCertificate: 'x' }])
      expect(hello(over)).toBeUndefined()
    expect(hello({ peerCertificate: undefined })).toBeUndefined()
  })
})

describe('the state of a node', () => {
  const node = (over: Partial<StoredNode> = {}): StoredNode =>
    aNode('node_1' as NodeId, {
      peerAddress: 'a:1',
      session: { replica: 'r', epoch: 3, bootId: '' },
      ...over,
    })
  const secure = (over: object = {}) => ({
    generation: 1,
    epoch: 3,
    address: 'a:2',
    certificates: [A],
    ...over,
  })
  const next = (before: Partial<StoredNode>, stated?: string) =>
    nextSecureRouter(
      node(before),
      stated === undefined ? undefined : { address: 'a:2', certificate: stated },
      NOW,
      HOUR_MS,
    )
  const soon = new Date(NOW + HOUR_MS).toISOString()

  test.each<[string, ReturnType<typeof next>, unknown]>([
    ['a node that never stated a certificate', next({}), undefined],
    ['a router that used plain HTTP', next({}, A), secure({ epoch: 4, plainUntil: soon })],
    [
      'a new router',
      nextSecureRouter(aNode('node_1' as NodeId, {}), { address: 'a:2', certificate: A }, NOW, HOUR_MS),
      secure({ epoch: 1 }),
    ],
    ['the same certificate again', next({ secureRouter: secure() }, A), secure({ epoch: 4 })],
    ['a renewed one', next({ secureRouter: secure() }, B), secure({ epoch: 4, certificates: [B, A] })],
    [
      'a third one',
      next({ secureRouter: secure({ certificates: [B, A] }) }, C),
      secure({ epoch: 4, certificates: [C, B] }),
    ],
    ['an older agent', next({ secureRouter: secure() }), { generation: 1, epoch: 4, certificates: [A] }],
    [
      'a session at an older server before',
      next({ secureRouter: secure({ epoch: 2 }) }, A),
      secure({ epoch: 4, plainUntil: soon }),
    ],
    [
      'an earlier enrollment',
      next({ generation: 2, secureRouter: secure() }, B),
      secure({ generation: 2, epoch: 4, certificates: [B], plainUntil: soon }),
    ],
    [
      'a pending end of plain HTTP',
      next({ secureRouter: secure({ plainUntil: 'x' }) }, A),
      secure({ epoch: 4, plainUntil: 'x' }),
    ],
  ])('after %s', (_, state, expected) => {
    expect(state).toEqual(expected)
  })

  test('is secure only in the session and the enrollment that stated it', () => {
    const of = (over: object) => isSecure(node({ secureRouter: secure(over) }))
    expect([of({}), of({ epoch: 2 }), of({ generation: 2 }), of({ address: undefined })]).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect(isSecure(node())).toBe(false)
  })
})
