// A follower of client certificates, with certificates on disk and an engine that accepts what the test says.

import { LOCAL_NAMES, makeCertificateChains } from '@holdfast/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ClientTls } from '../ports/client-tls.ts'
import { type CertificateFollower, followCertificates } from './follow-certificates.ts'

const DAY_MS = 86_400_000
const chains = makeCertificateChains()
const { pem } = chains
let files: ClientTls | undefined
let accepted: (tls: ClientTls) => number
let now: number
let lines: string[]
let follower: CertificateFollower

beforeAll(() => {
  for (const authority of ['old-root', 'new-root']) chains.selfSign(authority)
  chains.sign('old', 'old-root', LOCAL_NAMES)
  chains.sign('new', 'new-root', LOCAL_NAMES)
})
afterAll(chains.remove)

const tlsOf = (name: string, ...roots: readonly string[]): ClientTls => ({
  ca: pem(...roots.map((root) => `${root}.crt`)),
  cert: pem(`${name}.crt`),
  key: pem(`${name}.key`),
})
const OLD = () => tlsOf('old', 'old-root')
const NEW = () => tlsOf('new', 'old-root', 'new-root')

beforeEach(() => {
  files = OLD()
  accepted = () => 3
  now = Date.now() + 60_000
  lines = []
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level}: ${message}: ${JSON.stringify(fields)}`)
  follower = followCertificates({
    engine: 'etcd',
    read() {
      if (files === undefined) throw new Error('ENOENT: no such file')
      return files
    },
    countAccepting: async (tls) => accepted(tls),
    now: () => now,
    log: { info: at('info'), warn: at('warn'), error: at('error') },
  })
})

test('uses renewed certificates once every member that accepts the previous ones accepts them', async () => {
  files = NEW()
  await follower.check()
  expect(follower.current()).toEqual(NEW())
  expect(lines).toEqual([expect.stringMatching(/^info: client certificates replaced/)])
})

test('keeps the same object while the files are unchanged, so that connections stay', async () => {
  const before = follower.current()
  files = OLD()
  await follower.check()
  expect(follower.current()).toBe(before)
  expect(lines).toEqual([])
})

/** The files that a row leaves, and what the engine then accepts; later is the time of the check. */
interface Faulty {
  readonly files: () => ClientTls | undefined
  readonly accepted?: (tls: ClientTls) => number
  readonly later?: number
}
const newRefused = (count: number) => (tls: ClientTls) => (tls.cert === pem('old.crt') ? 3 : count)
const faulty: readonly [string, Faulty, RegExp][] = [
  ['is unreadable', { files: () => undefined }, /ENOENT/],
  ['has the key of another certificate', { files: () => ({ ...NEW(), key: pem('old.key') }) }, /not belong/],
  ['is no certificate', { files: () => ({ ...NEW(), cert: 'half a fi' }) }, /no certificate/],
  ['names no authority', { files: () => ({ ...NEW(), ca: '' }) }, /no certificate/],
  ['has expired', { files: NEW, later: 2 * DAY_MS }, /expired/],
  [
    'is refused by the engine',
    { files: NEW, accepted: newRefused(0) },
    /3 members accept the previous certificates, 0 the new ones/,
  ],
  ['is refused by one of three members', { files: NEW, accepted: newRefused(2) }, /, 2 the new ones/],
]
test.each(faulty)(
  'keeps the previous certificates if a new file %s, and logs it once',
  async (_, row, why) => {
    files = row.files()
    accepted = row.accepted ?? accepted
    now += row.later ?? 0
    await follower.check()
    await follower.check()
    expect(follower.current()).toEqual(OLD())
    expect(lines).toEqual([
      expect.stringMatching(/^error: client certificates not replaced, the previous ones/),
    ])
    expect(lines[0]).toMatch(why)
    expect(lines[0]).not.toContain('PRIVATE')
  },
)

test('uses corrected files after faulty ones', async () => {
  files = { ...NEW(), key: pem('old.key') }
  await follower.check()
  files = NEW()
  await follower.check()
  expect(follower.current()).toEqual(NEW())
})

test('waits with the replacement while the engine answers with no certificates at all', async () => {
  files = NEW()
  accepted = () => 0
  await follower.check()
  await follower.check()
  expect(follower.current()).toEqual(OLD())
  expect(lines).toEqual([expect.stringMatching(/^warn: client certificates not replaced yet/)])
  accepted = ({ cert }) => (cert === pem('new.crt') ? 1 : 0)
  await follower.check()
  expect(follower.current()).toEqual(NEW())
})
