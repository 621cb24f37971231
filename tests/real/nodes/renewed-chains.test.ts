// A running server process with TLS, and agents that enrolled with the command that it returned. The files of its certificate are
// renewed, moved to another root, and replaced by unusable ones. After each change every open session is still open, and every
// agent that starts again opens a new one.

import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { enroll } from '@holdfast/agent/enroll/enroll'
import type { Session } from '@holdfast/agent/ports/session'
import { startSession } from '@holdfast/agent/session/start-session'
import { type Authorities, openAuthorities } from '@holdfast/agent/state/authorities'
import { loadNodeState, type NodeState } from '@holdfast/agent/state/node-state'
import { pinOf } from '@holdfast/server/net/certificate-chain'
import { countConfirmations } from '@holdfast/server/operations/nodes/trusted-authorities'
import {
  AUTHORITY,
  freePort,
  LOCAL_NAMES,
  makeCertificateChains,
  makeTempFolder,
  sharedSecretsStore,
  uniqueName,
  waitUntil,
} from '@holdfast/testkit'
import { programIn, testedBuild } from '@holdfast/testkit/builds/programs'
import { inRun } from '@holdfast/testkit/long-run'
import { provision } from '@holdfast/testkit/platform/set-up'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { runCommandAsync } from '@holdfast/testkit/run-command'
import { type PreparedServer, prepareServer } from '@holdfast/testkit/scenarios/server-process'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

const AGENTS = inRun(3, 20)
/** The server compares files, and sends complete sets with announcements, every minute. */
const MINUTE = { timeoutMs: 100_000 }
/** The time limit of a test that waits for such a minute. */
const SLOW = { timeout: 180_000 }
const LEAF = `${LOCAL_NAMES}\nextendedKeyUsage=serverAuth`
const REFUSED = 'certificate not replaced, the previous one is still served'
const ENGINE = { version: '29.5.1', apiVersion: '1.56' }

const chains = makeCertificateChains()
const { path, pem } = chains
const agents: RunningAgent[] = []
let platform: Platform
let server: PreparedServer
let settings: { readonly listen: { readonly tls: object } }
let url: string

beforeAll(async () => {
  makeChains()
  install(pem('leaf.crt', 'inner.crt', 'outer.crt'), pem('leaf.key'))
  platform = await startPlatform()
  const port = await freePort()
  const { address, rootToken } = await sharedSecretsStore()
  const { etcd, registries, rates } = platform.config
  url = `https://127.0.0.1:${port}`
  const tls = { cert: path('served.crt'), key: path('served.key'), ca: path('root.crt') }
  const shared = {
    ...{ publicUrl: url, roles: ['api', 'controllers', 'gateway'], registries, rates },
    etcd: { endpoints: etcd.endpoints, root: etcd.root },
    cluster: { key: 'known to this test alone' },
    secretsStore: { address, api: (await provision(address, rootToken)).api },
  }
  settings = { ...shared, listen: { host: '127.0.0.1', port, tls } } as typeof settings
  server = prepareServer({ url, ca: pem('root.crt') }, settings)
  await server.start()
  for (let each = 0; each < AGENTS; each += 1) agents.push(await startAgent(await enrollAgent()))
})
afterAll(async () => {
  for (const agent of agents) await agent.stop()
  await server?.remove()
  await platform?.stop()
  chains.remove()
})
afterEach(noAgentIsLost)

/** Two chains with two intermediate certificates each, renewals of the first, and unusable files. */
function makeChains(): void {
  const { selfSign, sign } = chains
  for (const root of ['root', 'next']) selfSign(root)
  for (const [outer, root] of [
    ['outer', 'root'],
    ['outer-2', 'root'],
    ['next-outer', 'next'],
  ] as const)
    sign(outer, root, AUTHORITY)
  for (const [inner, outer] of [
    ['inner', 'outer'],
    ['inner-2', 'outer-2'],
    ['next-inner', 'next-outer'],
  ] as const)
    sign(inner, outer, AUTHORITY)
  for (const leaf of ['leaf', 'leaf-2', 'leaf-3']) sign(leaf, 'inner', LEAF)
  sign('leaf-4', 'inner-2', LEAF)
  sign('next-leaf', 'next-inner', LEAF)
  sign('expired', 'inner-2', LEAF, '-days', '-1')
}

/** Writes the files of the listener's certificate. */
function install(cert: string, key: string): void {
  writeFileSync(path('served.key'), key, { mode: 0o600 })
  writeFileSync(path('served.crt'), cert)
}

/** Changes what is announced, and reloads. */
function announce(nextCa: string | undefined): void {
  const { listen, ...others } = settings
  const tls = { ...listen.tls, ...(nextCa === undefined ? {} : { nextCa: path(nextCa) }) }
  server.configure({ ...others, listen: { ...listen, tls } })
  server.reload()
}

test('nodes pin the root of a chain with two intermediate certificates', async () => {
  expect(agents.map(({ state }) => state.ca)).toEqual(agents.map(() => pem('root.crt')))
  expect(await served()).toBe(fingerprint('leaf.crt'))
  expect(await checkConfig()).toBe('ok')
})

test('a renewed leaf certificate is served after SIGHUP', async () => {
  install(pem('leaf-2.crt', 'inner.crt', 'outer.crt'), pem('leaf-2.key'))
  server.reload()
  await untilServed('leaf-2.crt')
})

test('a renewed leaf certificate is served when its file has changed', SLOW, async () => {
  install(pem('leaf-3.crt', 'inner.crt', 'outer.crt'), pem('leaf-3.key'))
  await untilServed('leaf-3.crt')
})

test('renewed intermediate certificates are served', async () => {
  install(pem('leaf-4.crt', 'inner-2.crt', 'outer-2.crt'), pem('leaf-4.key'))
  server.reload()
  await untilServed('leaf-4.crt')
})

const UNUSABLE: readonly [string, () => readonly [string, string], RegExp, RegExp][] = [
  [
    'an expired certificate',
    () => [pem('expired.crt', 'inner-2.crt', 'outer-2.crt'), pem('expired.key')],
    /CN = ?expired expired on|CN=expired expired on/,
    /expired on .*renew the certificate/s,
  ],
  [
    'the key of another certificate',
    () => [pem('leaf-4.crt', 'inner-2.crt', 'outer-2.crt'), pem('leaf-3.key')],
    /private key that does not belong/,
    /private key that does not belong/,
  ],
  ['another file', () => ['no certificate\n', pem('leaf-4.key')], /no certificate/, /no certificate/],
  [
    'a chain to another root that was not announced',
    () => [pem('next-leaf.crt', 'next-inner.crt', 'next-outer.crt', 'next.crt'), pem('next-leaf.key')],
    new RegExp(`another root than the one that nodes pin, and ${AGENTS} of ${AGENTS} nodes`),
    /^ok$/,
  ],
]
test.each(UNUSABLE)(
  '%s is refused, and the previous certificate stays',
  async (_, files, logged, checked) => {
    const before = server.output().length
    install(...files())
    server.reload()
    const line = await waitUntil(() => lineWith(REFUSED, before), { what: 'the refusal is logged' })
    expect(line).toMatch(logged)
    expect(await served()).toBe(fingerprint('leaf-4.crt'))
    expect(await checkConfig()).toMatch(checked)
  },
)

test('check-config refuses a chain whose root it does not know, and a next authority that is no root', async () => {
  install(pem('next-leaf.crt', 'next-inner.crt', 'next-outer.crt'), pem('next-leaf.key'))
  expect(await checkConfig()).toMatch(/without its issuer CN=next.*set listen\.tls\.ca/s)
  install(pem('leaf-4.crt', 'inner-2.crt', 'outer-2.crt'), pem('leaf-4.key'))
  announce('next-outer.crt')
  await waitUntil(() => lineWith('next authorities not announced', 0), { what: 'the refusal is logged' })
  expect(await checkConfig()).toMatch(/listen\.tls\.nextCa.*CN=next-outer is no root/s)
})

test('a chain to another root is served once every node has confirmed the announced root', SLOW, async () => {
  announce('next.crt')
  const pin = pinOf(new X509Certificate(pem('next.crt')))
  const confirmations = async () => {
    await platform.server.store.fresh()
    return countConfirmations(platform.server.store, pin)
  }
  await waitUntil(async () => (await confirmations()).unconfirmed.length === 0, {
    what: 'every node has confirmed',
    ...MINUTE,
  })
  expect((await confirmations()).nodes).toBe(AGENTS)
  install(pem('next-leaf.crt', 'next-inner.crt', 'next-outer.crt', 'next.crt'), pem('next-leaf.key'))
  server.reload()
  await untilServed('next-leaf.crt')
})

test('a node that enrolls afterwards pins the new root', async () => {
  announce(undefined)
  const state = await enrollAgent()
  expect(state.ca).toBe(pem('next.crt'))
  agents.push(await startAgent(state))
})

/** Every open session stayed open, and every agent that starts again opens one: with a new connection. */
async function noAgentIsLost(): Promise<void> {
  expect(agents.flatMap(({ lost }) => lost)).toEqual([])
  await Promise.all(agents.map((agent) => agent.restart()))
}

interface RunningAgent {
  readonly state: NodeState
  /** The log lines about connections that ended or failed since the agent has its session. */
  readonly lost: readonly string[]
  /** Ends the agent and starts it again on the same folder; resolves when it has a session. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const folders = new WeakMap<NodeState, string>()

async function enrollAgent(): Promise<NodeState> {
  const nodeName = uniqueName('node')
  const command = await joinCommand(nodeName)
  const word = (name: string): string => command.split(' ')[command.split(' ').indexOf(name) + 1] ?? ''
  const folder = makeTempFolder('agent').path
  await enroll({
    ...{ server: word('--server'), caPin: word('--ca-pin'), joinToken: word('--token'), nodeName, folder },
    ...{ labels: {}, engine: '', engineVersion: ENGINE },
  })
  const state = await loadNodeState(folder)
  if (state === undefined) throw new Error('the enrollment was not saved')
  folders.set(state, folder)
  return state
}

async function startAgent(state: NodeState): Promise<RunningAgent> {
  const folder = folders.get(state) ?? ''
  let lost: string[] = []
  let running: { readonly session: Session; readonly authorities: Authorities } | undefined
  const stop = async (): Promise<void> => {
    running?.session.close()
    await running?.authorities.close()
    running = undefined
  }
  const start = async (): Promise<void> => {
    let sets = 0
    const log = pino({ level: 'info' }, { write: (line) => void lost.push(line) })
    const authorities: Authorities = await openAuthorities(folder, state, log, () =>
      running?.session.reportAuthorities(authorities.pins()),
    )
    const session = startSession(
      {
        ...{ state, log, authorities, containers: async () => [] },
        machine: () => ({
          ...{ bootId: 'boot-1', version: '0.1.0', capabilities: [], labels: {}, engine: ENGINE },
          capacity: { cpuMillis: 2_000, memoryBytes: 2 ** 32 },
        }),
        onDesired: () => {
          sets += 1
        },
      },
      { steadyMs: 10_000, openMs: 20_000, reconnectDelayMs: () => 1_000 },
    )
    running = { session, authorities }
    await waitUntil(() => sets > 0, {
      what: `${state.nodeName} has a session`,
      timeoutMs: 60_000,
      seen: () => lost.join(''),
    })
    lost = []
  }
  await start()
  return {
    state,
    get lost() {
      return lost.filter((line) => /session ended|connection to the server failed/.test(line))
    },
    async restart() {
      await stop()
      await start()
    },
    stop,
  }
}

/** Requests the command with which a machine enrolls, as a tenant administrator who trusts both roots. */
async function joinCommand(nodeName: string): Promise<string> {
  const headers = { authorization: `Bearer ${platform.acme.token}`, 'content-type': 'application/json' }
  const at = new URL('/api/v1/nodes/join-tokens', url)
  const ca = pem('root.crt', 'next.crt')
  const answer = await new Promise<string>((resolve, reject) => {
    const outgoing = request(at, { method: 'POST', headers, ca })
    outgoing.once('response', (response) => resolve(text(response)))
    outgoing.once('error', reject)
    outgoing.end(JSON.stringify({ nodeName }))
  })
  return String(JSON.parse(answer).command)
}

const fingerprint = (file: string): string => new X509Certificate(pem(file)).fingerprint256

/** The fingerprint of the certificate that a new connection gets, verified against both roots. */
function served(): Promise<string> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca: pem('root.crt', 'next.crt') })
    socket.once('error', reject).once('secureConnect', () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
  })
}

const untilServed = (file: string) =>
  waitUntil(async () => (await served()) === fingerprint(file), { what: `${file} is served`, ...MINUTE })

const lineWith = (words: string, from: number): string | undefined =>
  server
    .output()
    .slice(from)
    .split('\n')
    .find((line) => line.includes(words))

/** `ok`, or the faults that check-config prints for the files as they are. */
async function checkConfig(): Promise<string> {
  const { node, main, env } = programIn(testedBuild(), 'server')
  return runCommandAsync(node, [main, 'check-config', '--config', server.config], { env }).then(
    () => 'ok',
    (error: Error) => error.message,
  )
}
