// A server that runs for a year beside a certificate: its alarms at 30, 14 and 7 days, and the renewal of its file.

import { makeCertificates } from '@holdfast/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expiryOf } from '../config/certificate-files.ts'
import { loadConfig } from '../config/load-config.ts'
import { createCertificateWatch } from './watch-certificates.ts'

const DAY_MS = 86_400_000
const HOUR_MS = DAY_MS / 24
let made: Awaited<ReturnType<typeof makeCertificates>>
let notAfterMs: number
let now: number
let files: Map<string, string>
let lines: string[]
let reloads: number
let refused: boolean
let check: () => void

beforeAll(async () => {
  made = await makeCertificates()
  notAfterMs = expiryOf(made.pem('server.crt'))
})
afterAll(() => made.remove())

beforeEach(() => {
  files = new Map([
    ['/server.pem', made.pem('server.crt')],
    ['/server-key.pem', made.pem('server.key')],
  ])
  now = notAfterMs - 365 * DAY_MS
  lines = []
  reloads = 0
  refused = false
  const at = (level: string) => (_: object, message: string) => void lines.push(`${level}: ${message}`)
  const config = configOf()
  check = createCertificateWatch({
    config: () => config,
    read(path) {
      const text = files.get(path)
      if (text === undefined) throw new Error(`ENOENT: ${path}`)
      return text
    },
    now: () => now,
    log: { warn: at('warn'), error: at('error') },
    isRefused: () => refused,
    reloadCertificate: () => {
      reloads += 1
    },
  })
})

function configOf() {
  const loaded = loadConfig({
    text: JSON.stringify({
      listen: { tls: { cert: '/server.pem', key: '/server-key.pem' } },
      cluster: { key: 'known to this test alone' },
      etcd: { endpoints: ['http://127.0.0.1:2379'] },
      secretsStore: { address: 'http://127.0.0.1:8200', api: { roleId: 'role', secretId: 'id' } },
      roles: ['api', 'controllers', 'gateway'],
    }),
    env: {},
  })
  if (loaded.ok) return loaded.config
  throw new Error(JSON.stringify(loaded.faults))
}

test('raises an alarm 30, 14 and 7 days before a certificate expires and when it has expired, each once', () => {
  const raised: string[] = []
  for (; now < notAfterMs + DAY_MS; now += HOUR_MS) {
    check()
    const days = Math.round((notAfterMs - now) / DAY_MS)
    for (const line of lines.splice(0)) raised.push(`${days} ${line}`)
  }
  expect(raised).toEqual([
    '30 warn: certificate expires within 30 days, renew it',
    '14 warn: certificate expires within 14 days, renew it',
    '7 error: certificate expires within 7 days, renew it now',
    '0 error: certificate expired, renew it now',
  ])
})

test('names a file that becomes unreadable, once', () => {
  check()
  files.delete('/server.pem')
  check()
  check()
  expect(lines).toEqual(['error: certificate unreadable, correct the file or its permissions'])
})

test('serves a changed certificate or key without a signal, and an unchanged one never', () => {
  check()
  check()
  expect(reloads).toBe(0)
  files.set('/server-key.pem', made.pem('client.key'))
  check()
  expect(reloads).toBe(1)
  files.set('/server.pem', made.pem('client.crt'))
  check()
  check()
  expect(reloads).toBe(2)
})

test('tries refused files again without a change, because nodes may have confirmed their root', () => {
  check()
  refused = true
  check()
  check()
  expect(reloads).toBe(2)
  refused = false
  check()
  expect(reloads).toBe(2)
})
