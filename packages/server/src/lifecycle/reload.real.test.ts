// A reload on a real TLS listener with real files: new connections get the new certificate, open ones stay, and a faulty
// pair or configuration changes nothing.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { type Certificates, makeCertificates } from '@holdfast/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { followSecrets, type LiveSecrets } from '../config/live-secrets.ts'
import { loadConfig } from '../config/load-config.ts'
import { readServerTls } from '../connect-engines.ts'
import type { CertificatePair } from '../net/certificate-chain.ts'
import { replaceCertificate, tlsSettings } from '../net/serving-certificate.ts'
import { createReload } from './reload.ts'

let old: Certificates
let renewed: Certificates
let server: ReturnType<typeof createServer>
let settings: { [name: string]: unknown }
let secrets: LiveSecrets
let reload: () => void
let served: CertificatePair | undefined
let unconfirmed: string[]
let lines: { level: string; fields: object; message: string }[]
let log: { level: string }
const dialed: TLSSocket[] = []

beforeEach(async () => {
  ;[old, renewed] = await Promise.all([makeCertificates(), makeCertificates()])
  writeFileSync(old.path('cluster-key'), 'first-key\n')
  settings = {
    listen: { tls: { cert: old.path('server.crt'), key: old.path('server.key') } },
    log: { level: 'info' },
    cluster: { keyFile: old.path('cluster-key') },
    etcd: { endpoints: ['http://127.0.0.1:2379'] },
    secretsStore: { address: 'http://127.0.0.1:8200', api: { roleId: 'role', secretId: 'first-id' } },
    roles: ['api', 'controllers', 'gateway'],
  }
  const initial = configOf()
  secrets = followSecrets(initial)
  const pair = readServerTls(initial)
  if (pair === undefined) throw new Error('the configuration has no certificate')
  served = pair
  server = createServer(tlsSettings(pair), (_request, response) => response.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  lines = []
  unconfirmed = ['acme-1']
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields, message })
  const recorder = { level: 'info', info: at('info'), warn: at('warn'), error: at('error') }
  log = recorder
  reload = createReload(initial, {
    log: recorder,
    load,
    useSecrets: secrets.use,
    replaceCertificate(next) {
      replaceCertificate(server, next)
      served = next
    },
    served: () => served,
    confirmationsOf: () => ({ nodes: 2, unconfirmed }),
    now: () => Date.now() + 60_000,
  }).all
})
afterEach(async () => {
  for (const socket of dialed.splice(0)) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
  for (const certificates of [old, renewed]) certificates.remove()
})

const load = () =>
  loadConfig({
    text: JSON.stringify(settings),
    env: {},
    readFile: (path) => ({ kind: 'text', text: readFileSync(path, 'utf8') }),
  })

function configOf() {
  const loaded = load()
  if (loaded.ok) return loaded.config
  throw new Error(JSON.stringify(loaded.faults))
}

/** Opens a connection that trusts both authorities. */
async function dial(): Promise<TLSSocket> {
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port, ca: [old.pem('ca.crt'), renewed.pem('ca.crt')] })
  dialed.push(socket)
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  return socket
}

const serves = (socket: TLSSocket, { pem }: Certificates): boolean =>
  pem('server.crt').includes(socket.getPeerCertificate().raw.toString('base64').slice(0, 64))

const renew = (name: 'server.crt' | 'server.key'): void => copyFileSync(renewed.path(name), old.path(name))

function messages(level: string): string[] {
  return lines.filter((line) => line.level === level).map(({ message }) => message)
}

async function answers(socket: TLSSocket): Promise<string> {
  const answer = new Promise<string>((resolve, reject) => {
    socket.once('data', (bytes) => resolve(String(bytes).split('\r\n')[0] ?? ''))
    socket.once('close', () => reject(new Error('the connection was closed')))
  })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return answer
}

test('a reload serves the renewed certificate to new connections and keeps open ones', async () => {
  const before = await dial()
  const original = old.pem('server.crt')
  renew('server.crt')
  renew('server.key')
  reload()
  const after = await dial()
  expect(serves(after, renewed)).toBe(true)
  expect(original).toContain(before.getPeerCertificate().raw.toString('base64').slice(0, 64))
  expect(await answers(before)).toBe('HTTP/1.1 200 OK')
  expect(messages('error')).toEqual([])
})

test.each([
  ['a certificate without its key', () => renew('server.crt')],
  ['a file without a certificate', () => writeFileSync(old.path('server.crt'), 'no certificate\n')],
  ['an empty key', () => writeFileSync(old.path('server.key'), '')],
])('%s keeps the last good pair and is logged with the remedy', async (_fault, spoil) => {
  const good = (await dial()).getPeerCertificate().fingerprint256
  spoil()
  reload()
  expect((await dial()).getPeerCertificate().fingerprint256).toBe(good)
  expect(messages('error')).toEqual([
    expect.stringMatching(/^certificate not replaced.*correct the files of listen.tls/),
  ])
  renew('server.crt')
  renew('server.key')
  reload()
  expect(serves(await dial(), renewed)).toBe(true)
})

test('a reload changes the log level and the secrets, and names the settings that need a restart', () => {
  const { cluster, secretsStore } = secrets.config
  expect([cluster?.key?.reveal(), secretsStore.api?.secretId.reveal()]).toEqual(['first-key', 'first-id'])
  writeFileSync(old.path('cluster-key'), 'second-key\n')
  settings['secretsStore'] = {
    address: 'http://127.0.0.1:8200',
    api: { roleId: 'role', secretId: 'second-id' },
  }
  settings['log'] = { level: 'debug' }
  settings['quotas'] = { nodes: 7 }
  reload()
  expect([cluster?.key?.reveal(), secretsStore.api?.secretId.reveal()]).toEqual(['second-key', 'second-id'])
  expect(log.level).toBe('debug')
  expect(lines.find(({ level }) => level === 'warn')?.fields).toEqual({ settings: ['quotas.nodes'] })
  expect(JSON.stringify(lines)).not.toMatch(/second-(?:key|id)/)
})

test('a faulty configuration changes nothing and its faults are logged', async () => {
  settings['log'] = { level: 'loud' }
  writeFileSync(old.path('cluster-key'), 'second-key\n')
  reload()
  expect(log.level).toBe('info')
  expect(secrets.config.cluster?.key?.reveal()).toBe('first-key')
  expect(messages('error')).toEqual(['configuration not reloaded, correct the faults and reload again'])
  expect(JSON.stringify(lines[0]?.fields)).toContain('log.level: received loud')
})

test('a listener does not change between HTTPS and HTTP', () => {
  settings['listen'] = {}
  reload()
  expect(messages('error')).toEqual(['listener not changed between HTTP and HTTPS, restart this server'])
})

test('a chain to another root is refused, because nodes trust the root that they pinned', async () => {
  const withRoot = ({ pem }: Certificates) => pem('server.crt') + pem('ca.crt')
  const chain = withRoot(renewed)
  writeFileSync(old.path('server.crt'), withRoot(old))
  reload()
  writeFileSync(old.path('server.crt'), chain)
  renew('server.key')
  reload()
  expect(messages('error')).toHaveLength(1)
  expect(JSON.stringify(lines.at(-1)?.fields)).toContain(
    'another root than the one that nodes pin, and 1 of 2 nodes: acme-1 have not confirmed it',
  )
  expect(serves(await dial(), renewed)).toBe(false)
})

test('a chain to another root is served once every node has confirmed it', async () => {
  const withRoot = ({ pem }: Certificates) => pem('server.crt') + pem('ca.crt')
  const [chain, next] = [withRoot(renewed), renewed.pem('ca.crt')]
  writeFileSync(old.path('server.crt'), withRoot(old))
  reload()
  writeFileSync(old.path('next.crt'), next)
  settings['listen'] = {
    tls: { cert: old.path('server.crt'), key: old.path('server.key'), nextCa: old.path('next.crt') },
  }
  reload()
  expect(served?.next).toBe(next)
  expect(messages('info')).toContain('next authorities announced to nodes')
  unconfirmed = []
  writeFileSync(old.path('server.crt'), chain)
  renew('server.key')
  reload()
  expect(messages('error')).toEqual([])
  expect(serves(await dial(), renewed)).toBe(true)
})

test('a file of next authorities that is no root is refused, and the certificate is still renewed', async () => {
  writeFileSync(old.path('next.crt'), renewed.pem('server.crt'))
  renew('server.crt')
  renew('server.key')
  settings['listen'] = {
    tls: { cert: old.path('server.crt'), key: old.path('server.key'), nextCa: old.path('next.crt') },
  }
  reload()
  expect(messages('error')).toEqual([expect.stringMatching(/^next authorities not announced/)])
  expect(served?.next).toBe(undefined)
  expect(serves(await dial(), renewed)).toBe(true)
})
