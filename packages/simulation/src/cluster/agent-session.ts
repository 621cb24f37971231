// The agent's side of a simulated session between agent and server: the agent dials, proves its key, sends heartbeats and
// redials after a failure, with the timings of the real agent (docs/design/agent.md#session).

import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import {
  AGENT_CAPABILITIES,
  type AgentMessage,
  type Answer,
  type Call,
  type Configuration,
  type ConfigureRequest,
  decodeOpen,
  defined,
  type EngineHealth,
  helloText,
  joinTemplates,
  type NodeId,
  type Observation,
  type ObservedCopy,
  type ObservedNetwork,
  PROMISES,
  type SampleRound,
  type ServerMessage,
  serverMessageShapes,
} from '@holdfast/contract'
import type { Random } from '../time/random.ts'
import { usedBytes } from '../volumes/pool.ts'
import type { Agent } from './agent.ts'
import type { AgentSideSocket } from './link.ts'
import type { Machine } from './machine.ts'

/** The files that enrollment stored on the disk of a machine. */
export interface Identity {
  readonly key: KeyObject
  readonly publicKey: string
  readonly encryptionKey: string
  nodeId: NodeId
  generation: number
}

/** The fixed bytes of a PKCS #8 Ed25519 key that precede the 32 bytes of the key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

export function newKeys(random: Random): Pick<Identity, 'key' | 'publicKey' | 'encryptionKey'> {
  const der = Buffer.concat([PKCS8_PREFIX, random.bytes(32)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  if (x === undefined) throw new Error('a key without a public half')
  return { key, publicKey: x, encryptionKey: Buffer.from(random.bytes(32)).toString('base64url') }
}

export interface SessionDeps {
  readonly random: Random
  readonly machine: Machine
  readonly identity: Identity
  readonly bootId: string
  /** Opens a connection to a server; undefined if no server answers. */
  dial(): AgentSideSocket | undefined
  agent(): Agent
  /** The usage to send with a heartbeat; undefined if none is measured. */
  sample(): SampleRound | undefined
}

export interface AgentSession {
  report(observations: readonly Observation[]): void
  reportCopies(copies: readonly ObservedCopy[]): void
  reportNetworks(networks: readonly ObservedNetwork[]): void
  /** Calls the server for changes of promotable nodes; undefined if it does not answer in time. */
  configure(requests: readonly ConfigureRequest[]): Promise<readonly Configuration[] | undefined>
}

interface Talking extends SessionDeps {
  /** The calls of this agent that wait for an answer. */
  readonly calls: Map<string, (answer: Answer | undefined) => void>

  socket: AgentSideSocket | undefined
  session: number | undefined
  hasDesired: boolean
  /** Whether the server has sent networks in this session. */
  hasNetworks: boolean
  heardAt: number
  failures: number
  called: number
  heartbeats: NodeJS.Timeout | undefined
}

export const ENGINE = { version: '29.5.1', apiVersion: '1.52' }
const CAPABILITIES = [...new Set([...AGENT_CAPABILITIES, PROMISES])]
const CALL_MS = 5_000
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 20_000
const STEADY_MS = 10_000
const OPEN_MS = 20_000
/** How long an agent on a machine without a network waits for an answer before a connection attempt fails. */
const UNANSWERED_MS = 10_000
const ASK_AFTER = 1.2
const GONE_AFTER = 2.8

export function startAgentSession(deps: SessionDeps): AgentSession {
  const talking: Talking = {
    ...deps,
    calls: new Map(),
    socket: undefined,
    session: undefined,
    hasDesired: false,
    hasNetworks: false,
    heardAt: 0,
    failures: 0,
    called: 0,
    heartbeats: undefined,
  }
  connect(talking)
  return {
    report: (observations) => report(talking, observations, []),
    reportCopies: (copies) => report(talking, [], copies),
    reportNetworks: (networks) => reportNetworks(talking, networks),
    configure: (requests) => configure(talking, requests),
  }
}

function configure(
  talking: Talking,
  requests: readonly ConfigureRequest[],
): Promise<readonly Configuration[] | undefined> {
  const { calls, bootId, hasDesired } = talking
  if (!hasDesired || talking.socket?.isOpen !== true) return Promise.resolve(undefined)
  talking.called += 1
  const id = `${bootId}-${talking.called}`
  return new Promise((resolve) => {
    const settle = (answer: Answer | undefined): void => {
      clearTimeout(late)
      calls.delete(id)
      resolve(answer?.configurations)
    }
    const late = setTimeout(() => settle(undefined), CALL_MS)
    calls.set(id, settle)
    say(talking, { type: 'call', id, method: 'configure', requests: [...requests] })
  })
}

const reachesServers = ({ machine }: Talking): boolean => machine.connected && !machine.serversCut

function connect(talking: Talking): void {
  const socket = reachesServers(talking) ? talking.dial() : undefined
  const began = performance.now()
  if (socket === undefined) {
    const waited = reachesServers(talking) ? 0 : UNANSWERED_MS
    setTimeout(() => dialAgain(talking), waited + waitMs(talking))
    return
  }
  Object.assign(talking, {
    socket,
    session: undefined,
    hasDesired: false,
    hasNetworks: false,
    heardAt: began,
  })
  const heard = (): void => {
    talking.heardAt = performance.now()
  }
  const late = setTimeout(() => {
    if (!talking.hasDesired) socket.terminate()
  }, OPEN_MS)
  socket.on('pong', heard)
  socket.on('message', (data) => {
    heard()
    if (talking.socket === socket) answer(talking, readServerMessage(data))
  })
  socket.on('close', () => {
    clearTimeout(late)
    clearInterval(talking.heartbeats)
    talking.socket = undefined
    for (const settle of talking.calls.values()) settle(undefined)
    if (performance.now() - began >= STEADY_MS) talking.failures = 0
    setTimeout(() => dialAgain(talking), waitMs(talking))
  })
}

function dialAgain(talking: Talking): void {
  talking.failures += 1
  connect(talking)
}

function waitMs({ failures, random }: Talking): number {
  const step = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 16))
  return step * (0.5 + random.number() / 2)
}

function readServerMessage(data: Buffer): ServerMessage {
  const value: ServerMessage = JSON.parse(data.toString('utf8'))
  const shape = serverMessageShapes[value.type]
  if (shape === undefined) throw new Error(`the server says ${value.type}, which no agent knows`)
  return decodeOpen(shape, value) as ServerMessage
}

function say({ socket }: Talking, message: AgentMessage): void {
  if (socket?.isOpen === true) socket.send(JSON.stringify(message))
}

function report(
  talking: Talking,
  observations: readonly Observation[],
  observed: readonly ObservedCopy[],
): void {
  const { session, hasDesired } = talking
  if (!hasDesired || session === undefined || observations.length + observed.length === 0) return
  const copies = observed.length === 0 ? {} : { copies: [...observed] }
  say(talking, { type: 'status', session, observations: [...observations], ...copies })
}

function reportNetworks(talking: Talking, networks: readonly ObservedNetwork[]): void {
  const { session, hasNetworks } = talking
  if (!hasNetworks || session === undefined || networks.length === 0) return
  say(talking, { type: 'status', session, observations: [], networks: [...networks] })
}

function answer(talking: Talking, message: ServerMessage): void {
  if (message.type === 'challenge') say(talking, hello(talking, message.nonce))
  if (message.type === 'welcome') {
    talking.session = message.session
    startHeartbeats(talking, message.heartbeatMs)
  }
  if ((message.type === 'complete' || message.type === 'delta') && message.session === talking.session) {
    const complete = message.type === 'complete'
    const gone = message.type === 'delta' ? message.gone : []
    const { revision, copies, peers, networks } = message
    const { goneCopies, goneNetworks } = message.type === 'delta' ? message : {}
    talking.hasNetworks ||= networks !== undefined
    const items = joinTemplates(message)
    const jobLogs = message.type === 'complete' ? message.jobLogs : undefined
    const parts = { copies, goneCopies, peers, jobLogs, networks, goneNetworks }
    talking.agent().take({ revision, items, complete, gone, ...parts })
    if (talking.hasDesired && !complete) return
    talking.hasDesired = true
    report(talking, talking.agent().reports(), talking.agent().copies())
    reportNetworks(talking, talking.agent().networks())
  }
  if (message.type === 'call') answerCall(talking, message)
  if (message.type === 'answer') talking.calls.get(message.id)?.(message)
}

function answerCall(talking: Talking, { id, method, volumes }: Call): void {
  if (method === 'promises' || method === 'prepare') {
    const promises = talking.agent().promises(method, volumes ?? [])
    say(talking, { type: 'answer', id, promises })
    return
  }
  const containers = talking.agent().containers()
  const shown = containers.map((one) => ({ ...one, image: 'simulated', startedAt: null, ours: true }))
  say(talking, { type: 'answer', id, containers: shown })
}

function hello({ identity, machine, bootId }: Talking, nonce: string): AgentMessage {
  const { nodeId, generation, key } = identity
  const text = helloText(nonce, nodeId, generation, bootId)
  const signature = sign(null, Buffer.from(text), key).toString('base64url')
  const { capacity, labels, pool } = machine
  const capabilities = machine.capabilities ?? (pool === undefined ? undefined : CAPABILITIES)
  const facts = { bootId, version: 'simulated', labels: { ...labels }, engine: ENGINE, capacity }
  const stated = capabilities === undefined ? {} : { capabilities: [...capabilities] }
  const storage = pool && {
    storage: { poolBytes: pool.poolBytes, usedBytes: usedBytes(pool), poolId: pool.address },
    agentPeerAddress: pool.address,
  }
  return { type: 'hello', nodeId, generation, signature, ...facts, ...stated, ...storage }
}

function startHeartbeats(talking: Talking, everyMs: number): void {
  clearInterval(talking.heartbeats)
  talking.heartbeats = setInterval(() => {
    const silentMs = performance.now() - talking.heardAt
    if (silentMs > GONE_AFTER * everyMs) talking.socket?.terminate()
    else {
      const engine = engineHealth(talking.machine)
      const isAsked = silentMs > ASK_AFTER * everyMs
      if (isAsked) talking.socket?.ping()
      if (talking.session === undefined || (isAsked && engine === undefined)) return
      const parts = defined({ usage: isAsked ? undefined : talking.sample(), engine })
      say(talking, { type: 'heartbeat', session: talking.session, ...parts })
    }
  }, everyMs)
}

/** The health of an engine that has stopped; undefined for one that never did, of which the server knows nothing bad. */
function engineHealth({ engineStoppedAt, engineBackAt }: Machine): EngineHealth | undefined {
  const now = Math.floor(performance.now())
  if (engineStoppedAt !== undefined)
    return { silentMs: Math.max(0, now - Math.floor(engineStoppedAt)), steadyMs: 0 }
  return engineBackAt === undefined
    ? undefined
    : { silentMs: 0, steadyMs: Math.max(0, now - Math.floor(engineBackAt)) }
}
