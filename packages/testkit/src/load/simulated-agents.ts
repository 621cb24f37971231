// Many agents in one process, over the real protocol and real sockets, without engines, for tests and benchmarks of the
// server. One timer sends the heartbeats of all agents.

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { Agent } from 'node:https'
import {
  AGENT_PATH,
  AGENT_SUBPROTOCOL,
  type AgentMessage,
  type AssignmentId,
  type DesiredItem,
  decodeOpen,
  defined,
  helloText,
  joinTemplates,
  type NodeId,
  type Observation,
  type SampleRound,
  type SentItem,
  type ServerMessage,
  serverMessageShapes,
} from '@holdfast/contract'
import { WebSocket } from 'ws'

export interface SimulatedKeys {
  readonly identityKey: KeyObject
  /** The node's private key; only the node can open data sealed for it. */
  readonly openingKey: KeyObject
  /** The node's raw public keys in base64url, as in an enrollment. */
  readonly publicKey: string
  readonly encryptionKey: string
}

export function makeSimulatedKeys(): SimulatedKeys {
  const identity = generateKeyPairSync('ed25519')
  const encryption = generateKeyPairSync('x25519')
  const raw = (key: KeyObject): string => key.export({ format: 'jwk' }).x ?? ''
  return {
    identityKey: identity.privateKey,
    openingKey: encryption.privateKey,
    publicKey: raw(identity.publicKey),
    encryptionKey: raw(encryption.publicKey),
  }
}

export interface SimulatedNode {
  readonly nodeId: NodeId
  readonly generation: number
  readonly identityKey: KeyObject
}

/** The hello message of a node. Every field can be overridden, to send an invalid hello. */
export function helloOf(
  node: SimulatedNode,
  nonce: string,
  bootId = 'boot-1',
): AgentMessage & { type: 'hello' } {
  const { nodeId, generation, identityKey } = node
  const text = helloText(nonce, nodeId, generation, bootId)
  return {
    type: 'hello',
    nodeId,
    generation,
    bootId,
    signature: sign(null, Buffer.from(text), identityKey).toString('base64url'),
    version: '0.1.0',
    labels: {},
    engine: { version: '29.0.0', apiVersion: '1.52' },
    capacity: { cpuMillis: 2_000, memoryBytes: 4 * 1024 ** 3 },
  }
}

/** A report that the container of a desired item is ready, or gone if the item is to be removed. */
export function readyObservation(item: SentItem, seq: number): Observation {
  const gone = item.desired === 'removed'
  return {
    assignmentId: item.assignmentId,
    generation: item.generation,
    seq,
    state: item.desired === 'running' ? 'ready' : 'stopped',
    containerId: gone ? null : item.assignmentId.toLowerCase(),
    startedAt: gone ? null : '2026-01-01T00:00:00.000Z',
    exitCode: null,
    restarts: 0,
    reason: '',
    gone,
  }
}

export interface SimulatedAgentsOptions {
  /** URL of the server, `http://...` or `https://...`. */
  readonly url: string
  readonly ca?: string
  readonly nodes: readonly SimulatedNode[]
  /** Number of agents that connect at the same time. */
  readonly atOnce?: number
  /** The capabilities that agents state; absent: they state none, as agents of version 0.1.0. */
  readonly capabilities?: readonly string[]
  /**
   * If true, agents answer each desired item with a report that matches the desired state. A function changes parts of the
   * report about a container that should run.
   */
  readonly report?: boolean | ((item: DesiredItem) => Partial<Observation>)
  /** The samples that an agent sends with each heartbeat, and after each message with desired state; absent: none. */
  readonly usage?: (running: readonly AssignmentId[]) => SampleRound
  /** Called for each message with desired state, complete or delta, that arrives at an agent. */
  readonly onDesired?: (nodeId: NodeId, message: ServerMessage & { type: 'complete' | 'delta' }) => void
}

export interface SimulatedAgents {
  readonly counts: { welcomes: number; completes: number; deltas: number; farewells: number; closes: number }
  readonly open: number
  close(): void
}

interface One {
  readonly node: SimulatedNode
  readonly socket: WebSocket
  session: number
  seq: number
  readonly running: Set<AssignmentId>
  nextHeartbeatAt: number
}

interface Crowd {
  readonly options: SimulatedAgentsOptions
  readonly counts: SimulatedAgents['counts']
  readonly sessions: Set<One>
  readonly tls: Agent
  heartbeatMs: number
}

const AT_ONCE = 64
const POLL_MS = 100

/**
 * Starts the agents. Resolves when every agent has received its complete desired state once; rejects if the server
 * rejects an agent.
 */
export async function startSimulatedAgents(options: SimulatedAgentsOptions): Promise<SimulatedAgents> {
  const counts = { welcomes: 0, completes: 0, deltas: 0, farewells: 0, closes: 0 }
  const tls = new Agent(options.ca === undefined ? {} : { ca: options.ca })
  const crowd: Crowd = { options, counts, sessions: new Set(), tls, heartbeatMs: 10_000 }
  const heartbeatTimer = setInterval(() => sendHeartbeats(crowd), POLL_MS)
  const close = (): void => {
    clearInterval(heartbeatTimer)
    for (const { socket } of crowd.sessions) socket.terminate()
  }
  const queue = options.nodes.values()
  const dialNext = async (): Promise<void> => {
    for (const node of queue) await dial(crowd, node)
  }
  try {
    await Promise.all(Array.from({ length: options.atOnce ?? AT_ONCE }, dialNext))
  } catch (error) {
    close()
    throw error
  }
  return {
    counts,
    get open() {
      return crowd.sessions.size
    },
    close,
  }
}

function dial(crowd: Crowd, node: SimulatedNode): Promise<void> {
  const url = new URL(AGENT_PATH, crowd.options.url)
  const secure = url.protocol === 'https:'
  url.protocol = secure ? 'wss:' : 'ws:'
  const socket = new WebSocket(url, AGENT_SUBPROTOCOL, {
    perMessageDeflate: false,
    ...(secure ? { agent: crowd.tls } : {}),
  })
  const one: One = {
    node,
    socket,
    session: 0,
    seq: 0,
    running: new Set(),
    nextHeartbeatAt: Number.POSITIVE_INFINITY,
  }
  return new Promise((resolve, reject) => {
    socket.on('message', (data) => {
      if (receive(crowd, one, read(String(data))) === 'synced') resolve()
    })
    socket.on('error', reject)
    socket.on('close', (code) => {
      crowd.counts.closes += 1
      crowd.sessions.delete(one)
      reject(new Error(`the session of ${node.nodeId} was closed with ${code}`))
    })
  })
}

function read(text: string): ServerMessage {
  const value: { type: string } = JSON.parse(text)
  const shape = serverMessageShapes[value.type]
  if (shape === undefined) throw new TypeError(`an unknown message: ${value.type}`)
  return decodeOpen(shape, value) as ServerMessage
}

function receive(crowd: Crowd, one: One, message: ServerMessage): 'synced' | undefined {
  const { counts, options } = crowd
  if (message.type === 'challenge') say(one, { ...helloOf(one.node, message.nonce), ...statedBy(options) })
  if (message.type === 'close') counts.farewells += 1
  if (message.type === 'call') say(one, { type: 'answer', id: message.id, containers: [] })
  if (message.type === 'welcome') {
    counts.welcomes += 1
    one.session = message.session
    crowd.sessions.add(one)
    crowd.heartbeatMs = message.heartbeatMs
    // The first heartbeats are spread over the interval, like those of agents that connected at different times.
    one.nextHeartbeatAt = performance.now() + Math.random() * message.heartbeatMs
  }
  if (message.type !== 'complete' && message.type !== 'delta') return undefined
  counts[message.type === 'complete' ? 'completes' : 'deltas'] += 1
  options.onDesired?.(one.node.nodeId, message)
  if (options.report !== undefined && options.report !== false) report(one, message, options.report)
  if (options.usage !== undefined) {
    for (const { assignmentId, desired } of message.items)
      if (desired === 'running') one.running.add(assignmentId)
      else one.running.delete(assignmentId)
    sayHeartbeat(crowd, one)
  }
  return 'synced'
}

const statedBy = ({ capabilities }: SimulatedAgentsOptions) =>
  capabilities === undefined ? {} : { capabilities: [...capabilities] }

function report(
  one: One,
  message: ServerMessage & { type: 'complete' | 'delta' },
  change: true | ((item: DesiredItem) => Partial<Observation>),
): void {
  if (message.items.length === 0) return
  one.seq += 1
  const observations =
    change === true
      ? message.items.map((item) => readyObservation(item, one.seq))
      : joinTemplates(message).map((item) => ({
          ...readyObservation(item, one.seq),
          ...(item.desired === 'running' ? change(item) : {}),
        }))
  say(one, { type: 'status', session: one.session, observations })
}

function sendHeartbeats(crowd: Crowd): void {
  const now = performance.now()
  for (const one of crowd.sessions) {
    if (now < one.nextHeartbeatAt) continue
    one.nextHeartbeatAt += crowd.heartbeatMs
    sayHeartbeat(crowd, one)
  }
}

function sayHeartbeat({ options }: Crowd, one: One): void {
  const usage = options.usage?.([...one.running])
  say(one, { type: 'heartbeat', session: one.session, ...defined({ usage }) })
}

function say({ socket }: One, message: AgentMessage): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}
