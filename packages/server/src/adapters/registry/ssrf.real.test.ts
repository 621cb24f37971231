// Tests hundreds of image references to hosts that no tenant may reach. A sinkhole server listens at each of these hosts;
// no connection may reach it. For hosts that are not on the allow-list, not even a socket may be opened.

import { execFileSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseImageReference } from '@holdfast/core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ManifestAnswer, Registry, RegistryEntry } from '../../ports/registry.ts'
import type { Resolve } from './pinned-lookup.ts'
import { createRegistryClient } from './registry-client.ts'

let sinkhole: Server
let port = 0
let connections = 0
let sockets = 0
const countSocket = () => {
  sockets += 1
}

function portOf(server: { address(): unknown }): number {
  const { port }: { port?: unknown } = Object(server.address())
  return Number(port)
}

beforeAll(async () => {
  sinkhole = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '0.0.0.0')
  await once(sinkhole, 'listening')
  port = portOf(sinkhole)
  subscribe('net.client.socket', countSocket)
})
afterAll(() => {
  unsubscribe('net.client.socket', countSocket)
  sinkhole.close()
})
beforeEach(() => {
  connections = 0
  sockets = 0
})

const HOSTS = [
  ...[
    '127.0.0.1',
    '127.0.0.2',
    '127.1',
    '127.0.1',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
  ],
  ...[
    '0',
    '0.0.0.0',
    '00.00.00.00',
    '127.0.0.1.',
    '127.00.00.01',
    '127.0.0.1%00',
    '127。0。0。1',
    '１２７.0.0.1',
    '①②⑦.0.0.1',
  ],
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost.localdomain',
    'ip6-localhost',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
  ],
  ...[
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[fe80::1%25lo]',
    '[::1%lo]',
    '[2002:7f00:1::]',
    '::1',
  ],
  ...[
    '169.254.169.254',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '192.0.0.192',
    '2852039166',
    '0xA9FEA9FE',
    '169.254.43518',
  ],
  ...[
    'metadata.google.internal',
    'metadata',
    'instance-data',
    'kubernetes.default.svc',
    'consul.service.consul',
  ],
  ...['10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...[
    'user@registry.example.com',
    'user:pw@registry.example.com',
    'registry.example.com@127.0.0.1',
    'registry.example.com#@127.0.0.1',
  ],
  ...[
    'registry.example.com.',
    'registry.example.com.evil.test',
    'evil-registry.example.com',
    'registry.example.co',
    'registry。example.com',
  ],
  ...[
    'xregistry.example.com',
    'registry.example.com%2f127.0.0.1',
    'registry.example.com\\127.0.0.1',
    '127.0.0.1.nip.test',
    'rebind.test',
  ],
]
const SHAPES: readonly ((host: string) => string)[] = [
  (host) => `${host}/x:1`,
  (host) => `${host}:${port}/x:1`,
  (host) => `${host}:${port}/x@sha256:${'a'.repeat(64)}`,
  (host) => `http://${host}:${port}/x:1`,
  (host) => `//${host}:${port}/x:1`,
  (host) => `registry.example.com/${host}:${port}/x:1`,
  (host) => `registry.example.com/..//${host}:${port}/x:1`,
  (host) => `registry.example.com:${port}@${host}:${port}/x:1`,
]

/** A hostile DNS resolver: every name resolves to the sinkhole server. */
const toSinkhole: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
const listed: RegistryEntry[] = [
  { host: 'only.example.net' },
  { host: '10.9.9.9:5000', allowAddress: true, plainHttp: true },
]

async function checkText(client: Registry, text: string): Promise<ManifestAnswer | undefined> {
  const image = parseImageReference(text)
  if (image === undefined) return undefined
  const reference = image.digest ?? image.tag ?? ''
  return client.checkManifest({ host: image.host, repository: image.repository, reference })
}

test('hundreds of hostile references open no socket', async () => {
  const client = createRegistryClient({ allowList: listed, resolve: toSinkhole, deadlineMs: 500 })
  const texts = HOSTS.flatMap((host) => SHAPES.map((shape) => shape(host)))
  expect(new Set(texts).size).toBeGreaterThan(300)
  let parsed = 0
  for (const text of texts) {
    const answer = await checkText(client, text)
    if (answer !== undefined) parsed += 1
    expect(answer ?? { kind: 'unreachable', cause: 'not_allowed' }).toEqual({
      kind: 'unreachable',
      cause: 'not_allowed',
    })
  }
  expect(parsed).toBeGreaterThan(50)
  expect({ sockets, connections }).toEqual({ sockets: 0, connections: 0 })
  client.close()
})

test.each([
  ['repository', { repository: '../../v1/sys', reference: '1' }],
  ['repository', { repository: 'a/../b', reference: '1' }],
  ['repository', { repository: 'a?x=1', reference: '1' }],
  ['reference', { repository: 'a', reference: '../x' }],
  ['reference', { repository: 'a', reference: '1 HTTP/1.1\r\nx: y' }],
  ['reference', { repository: 'a', reference: '' }],
])('an invalid %s is never sent, whichever caller passed it', async (_which, part) => {
  const client = createRegistryClient({ allowList: listed })
  const answer = await client.checkManifest({ host: 'only.example.net:443', ...part })
  expect(answer).toEqual({ kind: 'unreachable', cause: 'not_allowed' })
  expect(sockets).toBe(0)
  client.close()
})

test.each([
  ['loopback', ['127.0.0.1']],
  ['a private network', ['10.0.0.1']],
  ['metadata', ['169.254.169.254']],
  ['IPv6 loopback', ['::1']],
  ['a mapped address', ['::ffff:127.0.0.1']],
  ['a public and a private address', ['93.184.216.34', '127.0.0.1']],
])('a listed name that resolves to %s is not dialed', async (_name, addresses) => {
  const resolve: Resolve = async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const allowList = [{ host: `registry.example.com:${port}`, plainHttp: true }]
  const client = createRegistryClient({ allowList, resolve })
  const answer = await checkText(client, `registry.example.com:${port}/x:1`)
  expect(answer).toEqual({ kind: 'unreachable', cause: 'address_refused' })
  expect(connections).toBe(0)
  client.close()
})

test('an entry that allows private networks still never dials a metadata address', async () => {
  const resolve: Resolve = async () => [{ address: '169.254.169.254', family: 4 }]
  const allowList = [{ host: 'registry.example.com', allowAddress: true }]
  const client = createRegistryClient({ allowList, resolve })
  const answer = await checkText(client, 'registry.example.com/x:1')
  expect(answer).toEqual({ kind: 'unreachable', cause: 'address_refused' })
  client.close()
})

test('the checked address is the one that is dialed: the name is not resolved twice', async () => {
  let asked = 0
  const resolve: Resolve = async () => {
    asked += 1
    return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.99', family: 4 }]
  }
  const allowList = [{ host: `rebind.test:${port}`, plainHttp: true, allowAddress: true }]
  const client = createRegistryClient({ allowList, resolve })
  await checkText(client, `rebind.test:${port}/x:1`)
  // The counter-test of this file: if the allow-list permits the address, the client does reach the sinkhole server.
  expect({ asked, connections }).toEqual({ asked: 1, connections: 1 })
  client.close()
})

test.each([
  [{ host: '127.0.0.1:5000' }],
  [{ host: '[::1]:5000' }],
  [{ host: '169.254.169.254', allowAddress: true }],
  [{ host: 'https://registry.example.com' }],
  [{ host: 'registry.example.com/x' }],
  [{ host: '*.example.com' }],
  [{ host: '[::::]:5000', allowAddress: true }],
  [{ host: 'a.example.com', tokenRealms: ['10.0.0.1'] }],
  [{ host: 'a.example.com', endpoint: '10.0.0.1:443' }],
])('the allow-list entry %j is rejected at startup', (entry) => {
  expect(() => createRegistryClient({ allowList: [entry] })).toThrow(TypeError)
})

test('the TLS certificate is verified against the host name of the entry, not the dialed address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=registry.test', '-addext', 'subjectAltName=DNS:registry.test']
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ],
    { stdio: 'ignore' },
  )
  const ca = readFileSync(cert, 'utf8')
  const digest = `sha256:${'b'.repeat(64)}`
  const server = createSecureServer({ key: readFileSync(key), cert: ca }, (_request, response) => {
    response.setHeader('docker-content-digest', digest).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const secure = portOf(server)
  const entry = { allowAddress: true }
  const names = [`registry.test:${secure}`, `other.test:${secure}`]
  const trusting = createRegistryClient({
    allowList: names.map((host) => ({ host, ca, ...entry })),
    resolve: toSinkhole,
  })
  const strict = createRegistryClient({
    allowList: names.map((host) => ({ host, ...entry })),
    resolve: toSinkhole,
  })
  expect(await checkText(trusting, `registry.test:${secure}/x:1`)).toEqual({ kind: 'exists', digest })
  const refused = { kind: 'unreachable', cause: 'tls' }
  expect(await checkText(trusting, `other.test:${secure}/x:1`)).toEqual(refused)
  expect(await checkText(strict, `registry.test:${secure}/x:1`)).toEqual(refused)
  for (const client of [trusting, strict]) client.close()
  server.close()
  rmSync(folder, { recursive: true })
})
