// The pin of the join command: a server that stands below the pinned certificate gets the token, no other does.

import { execFileSync } from 'node:child_process'
import { hash, X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { makeCertificates, makeTempFolder } from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCommandLine } from '../command/command-line.ts'
import { newTenant } from '../fixtures/agent.fixture.ts'
import { createDial } from '../session/dial.ts'
import { loadNodeState } from '../state/node-state.ts'
import { enroll } from './enroll.ts'

const TOKEN = 'hfj_pinned'
const ENROLLED = { nodeId: 'node_01JCPZ0000000000000000000A', tenant: newTenant(), generation: 1 }
const folder = makeTempFolder('pins')
const file = (name: string): string => join(folder.path, name)
const pem = (...names: readonly string[]): string =>
  names.map((name) => readFileSync(file(name), 'utf8')).join('')
const pin = (certificate: string): string =>
  `sha256:${hash('sha256', new X509Certificate(certificate).raw, 'hex')}`

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
const openssl = (...args: readonly string[]): void => {
  execFileSync('openssl', args, { cwd: folder.path, stdio: 'ignore' })
}
const selfSigned = (who: string, ...rest: readonly string[]): void =>
  openssl(
    'req',
    '-x509',
    ...KEY,
    '-keyout',
    `${who}.key`,
    '-out',
    `${who}.crt`,
    '-subj',
    `/CN=${who}`,
    ...rest,
  )
function signed(who: string, by: string, extensions: string): void {
  writeFileSync(file(`${who}.ext`), extensions)
  openssl('req', ...KEY.slice(0, -2), '-keyout', `${who}.key`, '-out', `${who}.csr`, '-subj', `/CN=${who}`)
  const authority = ['-CA', `${by}.crt`, '-CAkey', `${by}.key`, '-CAcreateserial', '-days', '1']
  openssl('x509', '-req', '-in', `${who}.csr`, '-out', `${who}.crt`, ...authority, '-extfile', `${who}.ext`)
}
const NAMES = 'subjectAltName=IP:127.0.0.1,DNS:localhost'

beforeAll(() => {
  selfSigned('root')
  signed('middle', 'root', 'basicConstraints=critical,CA:TRUE')
  signed('leaf', 'middle', NAMES)
  signed('other-name', 'middle', 'subjectAltName=DNS:other.example.com')
  selfSigned('alone', '-addext', NAMES)
  selfSigned('stranger', '-addext', NAMES)
  // Of the same name as the pinned one, so that what it signs seems to come from that.
  selfSigned('false-root', '-subj', '/CN=root')
  signed('false-leaf', 'false-root', NAMES)
})
afterAll(() => folder.remove())

interface Tried {
  /** All that the server was asked. */
  readonly asked: string[]
  readonly outcome: unknown
  readonly state: Awaited<ReturnType<typeof loadNodeState>>
  /** Whether the agent's own connection is accepted afterwards by the state that was kept. */
  readonly dials: boolean
}

/** Enrolls at a server that shows `chain`, and at the second connection the certificate of `later`; keeps what comes. */
async function enrollAt(chain: string, key: string, caPin: string, later?: string): Promise<Tried> {
  const asked: string[] = []
  const shows = (cert: string, itsKey: string) =>
    createServer({ cert, key: itsKey }, async (request, response) => {
      asked.push(`${request.url} ${await text(request)}`)
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(ENROLLED))
    }).on('upgrade', (_request, socket) => socket.end('HTTP/1.1 418 Known\r\n\r\n'))
  const first = shows(chain, key)
  const others = later === undefined ? first : shows(pem(`${later}.crt`), pem(`${later}.key`))
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
    ...{ server: address, caPin, joinToken: TOKEN, nodeName: 'n1', labels: {}, folder: path },
    ...{ engine: 'unix:///run/docker.sock', engineVersion: { version: '29.8.0', apiVersion: '1.56' } },
  }).catch((error: unknown) => error)
  const state = await loadNodeState(path)
  const dials = state !== undefined && (await isHeard(address, state.ca))
  await new Promise((resolve) => front.close(resolve))
  if (state === undefined) expect(readdirSync(path)).toEqual([])
  return { asked, outcome, state, dials }
}

function isHeard(address: string, ca: string | undefined): Promise<boolean> {
  const socket = createDial(address, ca)()
  return new Promise((resolve) => socket.once('error', ({ message }) => resolve(message.includes('418'))))
}

const rows: readonly [string, string[], string][] = [
  ['the root of its chain', ['leaf.crt', 'middle.crt', 'root.crt'], 'root.crt'],
  ['an authority that another one signed', ['leaf.crt', 'middle.crt'], 'middle.crt'],
  ['its own certificate, of which it shows no issuer', ['leaf.crt'], 'leaf.crt'],
  ['its own certificate, which it signed itself', ['alone.crt'], 'alone.crt'],
]

test.each(rows)(
  'a server pinned by %s gets the token, and is known from then on',
  async (_, chain, pinned) => {
    const key = pem((chain[0] ?? '').replace('.crt', '.key'))
    const { asked, outcome, state, dials } = await enrollAt(pem(...chain), key, pin(pem(pinned)))
    expect(outcome).toEqual(ENROLLED)
    expect(asked).toEqual([expect.stringContaining(TOKEN)])
    expect(state?.ca?.trim()).toBe(pem(pinned).trim())
    expect(dials).toBe(true)
  },
)

test('the certificates of the test kit: a server that shows its authority too', async () => {
  const made = await makeCertificates()
  const chain = made.pem('server.crt') + made.pem('ca.crt')
  const { outcome } = await enrollAt(chain, made.pem('server.key'), pin(made.pem('ca.crt')))
  made.remove()
  expect(outcome).toEqual(ENROLLED)
})

test('another server is told by what was expected and what came, and gets nothing', async () => {
  const expected = pin(pem('root.crt'))
  const { asked, outcome, state } = await enrollAt(pem('stranger.crt'), pem('stranger.key'), expected)
  const told = String(outcome)
  expect([asked, state]).toEqual([[], undefined])
  expect(told).toContain(`expected: ${expected}`)
  expect(told).toContain(`received: ${pin(pem('stranger.crt'))} (CN=stranger)`)
  expect(told).toContain('The token was not sent.')
  expect(told).not.toContain(TOKEN)
})

test.each([
  ['shows the pinned certificate and stands not below it', ['false-leaf.crt', 'root.crt'], 'root.crt'],
  ['has a certificate for another name', ['other-name.crt', 'middle.crt', 'root.crt'], 'root.crt'],
])('a server that %s gets nothing', async (_, chain, pinned) => {
  const key = pem((chain[0] ?? '').replace('.crt', '.key'))
  const { asked, outcome, state } = await enrollAt(pem(...chain), key, pin(pem(pinned)))
  expect([asked, state]).toEqual([[], undefined])
  expect(String(outcome)).toMatch(/is not trusted|presents no certificate/)
})

test('who lets the first handshake through to the server and takes the second one himself gets nothing', async () => {
  const chain = pem('leaf.crt', 'middle.crt', 'root.crt')
  const { asked, outcome } = await enrollAt(chain, pem('leaf.key'), pin(pem('root.crt')), 'stranger')
  expect(asked).toEqual([])
  expect(String(outcome)).toContain('is not trusted')
})

test('a pin is of no use without TLS', async () => {
  const { path } = makeTempFolder('plain')
  const outcome = await enroll({
    ...{ server: 'http://127.0.0.1:1', caPin: pin(pem('root.crt')), joinToken: TOKEN, nodeName: 'n1' },
    ...{ labels: {}, folder: path, engine: '', engineVersion: { version: '', apiVersion: '' } },
  }).catch((error: unknown) => error)
  expect(String(outcome)).toContain('begins with https://')
})

test('the command line takes a pin or a file, and no pin of another form', () => {
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
