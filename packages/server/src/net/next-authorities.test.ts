// Which files of next authorities are announced, and what check-config says about the others.

import { LOCAL_NAMES, makeCertificateChains } from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkCertificate } from '../config/check-certificate.ts'
import { createAnnouncement, readNextAuthorities } from './next-authorities.ts'

const DAY_MS = 86_400_000
const chains = makeCertificateChains()
const { pem } = chains
const now = () => Date.now() + 60_000

beforeAll(() => {
  chains.selfSign('root', '-addext', LOCAL_NAMES)
  chains.selfSign('next')
  chains.sign('leaf', 'next', LOCAL_NAMES)
})
afterAll(chains.remove)

test('announces each root of the file with its fingerprint', () => {
  const read = readNextAuthorities(pem('next.crt', 'root.crt'), now())
  expect(read.map((one) => one.pem.trim())).toEqual([pem('next.crt').trim(), pem('root.crt').trim()])
  expect(read.map(({ pin }) => pin)).toEqual([
    expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    expect.anything(),
  ])
  expect(readNextAuthorities(undefined, now())).toEqual([])
})

const faulty: readonly [string, () => string, number, RegExp][] = [
  ['a certificate that another one signed', () => pem('leaf.crt'), 0, /CN=leaf is no root/],
  ['an expired root', () => pem('next.crt'), 2 * DAY_MS, /CN=next has expired/],
  ['no certificate', () => 'nothing', 0, /no certificate/],
  ['more roots than a node keeps', () => pem(...Array(5).fill('next.crt')), 0, /at most 4/],
]
test.each(faulty)('check-config refuses a file with %s', (_, next, later, why) => {
  const pair = { cert: pem('root.crt'), key: pem('root.key'), next: next() }
  const faults = checkCertificate(() => pair, now() + later)
  expect(faults.filter(({ setting }) => setting === 'listen.tls.nextCa')).toEqual([
    expect.objectContaining({ found: expect.stringMatching(why) }),
  ])
})

test('announces nothing while the file is faulty, and reports it once', () => {
  let next: string | undefined = pem('leaf.crt')
  const faults: string[] = []
  const announced = createAnnouncement(
    () => ({ next }),
    now,
    (why) => void faults.push(why),
  )
  expect([announced(), announced()]).toEqual([[], []])
  expect(faults).toHaveLength(1)
  next = pem('next.crt')
  expect(announced()).toHaveLength(1)
  expect(announced()).toBe(announced())
})
