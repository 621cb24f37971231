// The root that a served chain leads to, and the faults of chains, with certificates of openssl.

import { X509Certificate } from 'node:crypto'
import { AUTHORITY, LOCAL_NAMES, makeCertificateChains } from '@holdfast/testkit'
import { afterAll, expect, test } from 'vitest'
import { checkCertificate } from '../config/check-certificate.ts'
import { judgeChain, presentedChain, rootOf, rootPinOf } from './certificate-chain.ts'

const chains = makeCertificateChains()
const { pem } = chains
const CHAINED = 'subjectAltName=DNS:x'
/** Later than the start of every certificate, which openssl rounds to seconds. */
const now = Date.now() + 60_000
const DAY_MS = 86_400_000

chains.selfSign('root')
chains.sign('first', 'root', AUTHORITY)
chains.sign('second', 'root', AUTHORITY)
chains.sign('leaf', 'first', LOCAL_NAMES)
chains.sign('renewed', 'second', LOCAL_NAMES)
chains.sign('alone', 'root', LOCAL_NAMES)
chains.selfSign('own', '-addext', CHAINED)
// The false root has the name of the root, but another key.
chains.selfSign('false-root', '-subj', '/CN=root')
afterAll(chains.remove)

const pairOf = (leaf: string, files: readonly string[], roots?: string) => ({
  cert: pem(`${leaf}.crt`, ...files.map((name) => `${name}.crt`)),
  key: pem(`${leaf}.key`),
  ...(roots === undefined ? {} : { roots: pem(`${roots}.crt`) }),
})

const nameOf = (certificate: string | undefined) =>
  certificate === undefined ? undefined : new X509Certificate(certificate).subject.replace('CN=', '')

test.each([
  ['the root at the end of the chain', pairOf('leaf', ['first', 'root']), 'root'],
  ['the root in any order', pairOf('leaf', ['root', 'second', 'first']), 'root'],
  ['the root in a file of its own', pairOf('leaf', ['first'], 'root'), 'root'],
  ['the same root after a renewal by another intermediate', pairOf('renewed', ['second'], 'root'), 'root'],
  ['a leaf that the root signed', pairOf('alone', ['root']), 'root'],
  ['a certificate that signs itself', pairOf('own', []), 'own'],
  ['no root where the chain ends at an intermediate', pairOf('leaf', ['first']), undefined],
  ['no root for a leaf alone', pairOf('leaf', []), undefined],
  ['no root of the same name with another key', pairOf('leaf', ['first'], 'false-root'), undefined],
  ['no root that the chain does not lead to', pairOf('leaf', ['root']), undefined],
])('finds %s', (_, pair, root) => {
  expect(nameOf(rootOf(pair))).toBe(root)
  expect(rootPinOf(pair)).toBe(
    root &&
      `sha256:${new X509Certificate(pem(`${root}.crt`)).fingerprint256.replaceAll(':', '').toLowerCase()}`,
  )
  expect(judgeChain(pair, now).map(({ kind }) => kind)).toEqual(root === undefined ? ['no_root'] : [])
})

test('presents the root of another file with the chain, once', () => {
  const count = (text: string) => text.match(/BEGIN CERTIFICATE/g)?.length
  expect(count(presentedChain(pairOf('leaf', ['first'], 'root')))).toBe(3)
  expect(count(presentedChain(pairOf('leaf', ['first', 'root'], 'root')))).toBe(3)
  expect(count(presentedChain(pairOf('leaf', ['first'])))).toBe(2)
})

test.each([
  ['another key', { ...pairOf('leaf', ['first', 'root']), key: pem('alone.key') }, now, /does not belong/],
  ['an empty file', { cert: '', key: pem('leaf.key') }, now, /contains no certificate/],
  ['no key', { ...pairOf('leaf', ['first', 'root']), key: 'none' }, now, /no usable certificate and key/],
  ['an expired chain', pairOf('leaf', ['first', 'root']), now + 2 * DAY_MS, /CN=leaf expired on/],
  ['a chain of tomorrow', pairOf('leaf', ['first', 'root']), now - DAY_MS / 2, /CN=leaf is valid from/],
  ['a missing root', pairOf('leaf', ['first']), now, /ends at CN=first, without its issuer CN=root/],
])('check-config refuses %s and says what to do', (_, pair, at, found) => {
  const [fault] = checkCertificate(() => pair, at)
  expect(fault?.setting).toBe('listen.tls')
  expect(fault?.found).toMatch(found)
  expect(fault?.remedy).not.toBe('')
})

test('check-config reports an unreadable file, and nothing for plain HTTP', () => {
  const unreadable = () => {
    throw new Error('EACCES: permission denied, open /tls/key.pem')
  }
  expect(checkCertificate(unreadable, now)).toEqual([
    expect.objectContaining({ found: expect.stringContaining('EACCES') }),
  ])
  expect(checkCertificate(() => undefined, now)).toEqual([])
})
