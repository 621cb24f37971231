// The CA pin of the join command: the token is sent only to a server whose certificate chain leads to the pinned
// certificate.

import { hash, X509Certificate } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  AUTHORITY,
  LOCAL_NAMES,
  makeCertificateChains,
  makeCertificates,
  makeTempFolder,
} from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCommandLine } from '../command/command-line.ts'
import { newTenant } from '../fixtures/agent.fixture.ts'
import { createDial } from '../session/dial.ts'
import { loadNodeState } from '../state/node-state.ts'
import { enroll } from './enroll.ts'

const TOKEN = 'hfj_pinned'
const ENROLLED = { nodeId: 'node_01JCPZ0000000000000000000A', tenant: newTenant(), generation: 1 }
const chains = makeCertificateChains()
const { pem } = chains
const pin = (certificate: string): string =>
  `sha256:${hash('sha256', new X509Certificate(certificate).raw, 'hex')}`

beforeAll(() => {
  chains.selfSign('root')
  chains.sign('middle', 'root', AUTHORITY)
  chains.sign('leaf', 'middle', LOCAL_NAMES)
  chains.sign('other-name', 'middle', 'subjectAltName=DNS:other.example.com')
  chains.selfSign('alone', '-addext', LOCAL_NAMES)
  chains.selfSign('stranger', '-addext', LOCAL_NAMES)
  // The false root has the same name as the pinned root, so its signatures seem to come from the pinned root.
  chains.selfSign('false-root', '-subj', '/CN=root')
  chains.sign('false-leaf', 'false-root', LOCAL_NAMES)
})
afterAll(chains.remove)

interface EnrollAttempt {
  /** Requests that the server received during the enrollment. */
  readonly received: string[]
  readonly outcome: unknown
  readonly state: Awaited<ReturnType<typeof loadNodeState>>
  /** Whether the agent can connect to the server with the state that the enrollment saved. */
  readonly dials: boolean
}

/** Enrolls at a server that presents the certificates `chain`, and from the second connection on those of `later`. */
async function enrollAt(chain: string, key: string, caPin: string, later?: string): Promise<EnrollAttempt> {
  const received: string[] = []
  const serverWith = (cert: string, itsKey: string) =>
    createServer({ cert, key: itsKey }, async (request, response) => {
      received.push(`${request.url} ${await text(request)}`)
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(ENROLLED))
    }).on('upgrade', (_request, socket) => socket.end('HTTP/1.1 418 Known\r\n\r\n'))
  const first = serverWith(chain, key)
  const others = later === undefined ? first : serverWith(pem(`${later}.crt`), pem(`${later}.key`))
  let connections = 0
  const front = createTcpServer((socket) => {
    connections += 1
    const behind = connections === 1 ? first : others
    behind.emit('connection', socket)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const { path } = makeTempFolder('pinned')
  const address = `https://127.0.0.1:${(front.address() as AddressInfo).port}`
  const outcome = await enroll({
    server: address,
    caPin,
    joinToken: TOKEN,
    nodeName: 'n1',
    labels: {},
    folder: path,
    engine: 'unix:///run/docker.sock',
    engineVersion: { version: '29.8.0', apiVersion: '1.56' },
  }).catch((error: unknown) => error)
  const state = await loadNodeState(path)
  const dials = state !== undefined && (await canConnect(address, state.ca))
  await new Promise((resolve) => front.close(resolve))
  if (state === undefined) expect(readdirSync(path)).toEqual([])
  return { received, outcome, state, dials }
}

function canConnect(address: string, ca: string | undefined): Promise<boolean> {
  const trusted = ca === undefined ? undefined : [ca]
  const socket = createDial(address, () => trusted)()
  return new Promise((resolve) => socket.once('error', ({ message }) => resolve(message.includes('418'))))
}

const rows: readonly [string, string[], string][] = [
  ['the root of its chain', ['leaf.crt', 'middle.crt', 'root.crt'], 'root.crt'],
  ['an intermediate authority', ['leaf.crt', 'middle.crt'], 'middle.crt'],
  ['its own certificate without its issuer', ['leaf.crt'], 'leaf.crt'],
  ['its own self-signed certificate', ['alone.crt'], 'alone.crt'],
]

test.each(rows)(
  'sends the token to a server pinned by %s, and trusts it from then on',
  async (_, chain, pinned) => {
    const key = pem((chain[0] ?? '').replace('.crt', '.key'))
    const { received, outcome, state, dials } = await enrollAt(pem(...chain), key, pin(pem(pinned)))
    expect(outcome).toEqual(ENROLLED)
    expect(received).toEqual([expect.stringContaining(TOKEN)])
    expect(state?.ca?.trim()).toBe(pem(pinned).trim())
    expect(dials).toBe(true)
  },
)

test('enrolls at a server that presents its authority as well', async () => {
  const certificates = await makeCertificates()
  const chain = certificates.pem('server.crt') + certificates.pem('ca.crt')
  const { outcome } = await enrollAt(chain, certificates.pem('server.key'), pin(certificates.pem('ca.crt')))
  certificates.remove()
  expect(outcome).toEqual(ENROLLED)
})

test('sends no token to a server with another pin, and reports the expected and the received pin', async () => {
  const expected = pin(pem('root.crt'))
  const { received, outcome, state } = await enrollAt(pem('stranger.crt'), pem('stranger.key'), expected)
  const message = String(outcome)
  expect([received, state]).toEqual([[], undefined])
  expect(message).toContain(`expected: ${expected}`)
  expect(message).toContain(`received: ${pin(pem('stranger.crt'))} (CN=stranger)`)
  expect(message).toContain('The token was not sent.')
  expect(message).not.toContain(TOKEN)
})

test.each([
  ['presents the pinned certificate without chaining to it', ['false-leaf.crt', 'root.crt'], 'root.crt'],
  ['has a certificate for another name', ['other-name.crt', 'middle.crt', 'root.crt'], 'root.crt'],
])('sends no token to a server that %s', async (_, chain, pinned) => {
  const key = pem((chain[0] ?? '').replace('.crt', '.key'))
  const { received, outcome, state } = await enrollAt(pem(...chain), key, pin(pem(pinned)))
  expect([received, state]).toEqual([[], undefined])
  expect(String(outcome)).toMatch(/is not trusted|presents no certificate/)
})

test('sends no token to an attacker who relays the first handshake and intercepts the second', async () => {
  const chain = pem('leaf.crt', 'middle.crt', 'root.crt')
  const { received, outcome } = await enrollAt(chain, pem('leaf.key'), pin(pem('root.crt')), 'stranger')
  expect(received).toEqual([])
  expect(String(outcome)).toContain('is not trusted')
})

test('rejects a CA pin without TLS', async () => {
  const { path } = makeTempFolder('plain')
  const outcome = await enroll({
    server: 'http://127.0.0.1:1',
    caPin: pin(pem('root.crt')),
    joinToken: TOKEN,
    nodeName: 'n1',
    labels: {},
    folder: path,
    engine: '',
    engineVersion: { version: '', apiVersion: '' },
  }).catch((error: unknown) => error)
  expect(String(outcome)).toContain('begins with https://')
})

test('the enroll command accepts a CA pin or a CA file, and only well-formed pins', () => {
  const words = ['enroll', '--server', 'https://h', '--name', 'n1', '--token', 't']
  const good = `sha256:${'a'.repeat(64)}`
  expect(readCommandLine([...words, '--ca-pin', good], {})).toMatchObject({ caPin: good, ca: undefined })
  for (const more of [
    ['--ca-pin', 'sha256:a'],
    ['--ca-pin', 'a'.repeat(64)],
    ['--ca-pin', good, '--ca', 'f'],
  ])
    expect(() => readCommandLine([...words, ...more], {})).toThrow('--ca-pin')
})
