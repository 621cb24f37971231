// Handles the messages of one connection to the server, from the server's challenge to the end. See
// docs/design/agent.md#session.

import { sign } from 'node:crypto'
import {
  type AgentMessage,
  type AssignmentId,
  CALL_VOLUMES,
  type Call,
  defined,
  encodeOpen,
  helloText,
  joinTemplates,
  type NodeDisks,
  type Observation,
  type ObservedCopy,
  type ObservedNetwork,
  type PoolReport,
  type PromiseAnswer,
  type ServerMessage,
} from '@holdfast/contract'
import { type RawData, WebSocket } from 'ws'
import type { SessionOptions } from '../ports/session.ts'
import type { SessionStreams, StreamSocket } from '../ports/streams.ts'
import type { UsageFeed } from '../usage/usage-feed.ts'
import type { UsagePart } from '../usage/usage-history.ts'
import { inMessages, type KeptReports } from './kept-reports.ts'
import { readServerMessage } from './read-server-message.ts'
import type { ServerCalls } from './server-calls.ts'

export interface Connection {
  /** Sends a message to the server; returns false if the session is not open. */
  send(message: AgentMessage): boolean
  /** Sends samples that the server lacks; returns false if the session is not open. */
  sendUsage(part: UsagePart): boolean
  /** Sends a report. Does nothing before the first desired set arrives; kept reports are sent after that set. */
  report(observations: Observation[], orphans?: readonly string[]): void
  /** Sends a report about copies of volumes, if the server has sent copies in this session. */
  reportCopies(copies: ObservedCopy[]): void
  /** Sends a report about the node's pool under the same condition. */
  reportPool(pool: PoolReport): void
  /** Sends a report about networks, if the server has sent networks in this session. */
  reportNetworks(networks: ObservedNetwork[]): void
  /** Sends a report about the node's disks, under the same condition as other reports. */
  reportDisks(disks: NodeDisks): void
  /** Sends the fingerprints of the trusted roots, under the same condition. */
  reportAuthorities(pins: readonly string[]): void
  close(): void
}

interface ConnectionState {
  readonly socket: WebSocket
  /** Number of the session; undefined until the server's welcome message. */
  session: number | undefined
  /** True once the first desired set has arrived, because the server accepts reports only then. */
  synced: boolean
  /** True once the server has sent copies of volumes. An older server, or one without volumes, gets no reports of them. */
  hasCopies: boolean
  /** The same for networks. */
  hasNetworks: boolean
  lastReceivedAt: number
  heartbeats: NodeJS.Timeout | undefined
}

const SHORTEST_HEARTBEAT_MS = 20
/**
 * Numbers of heartbeat intervals without a message from the server after which the agent pings the server, and after
 * which the agent disconnects.
 */
const PING_AFTER = 1.2
const DISCONNECT_AFTER = 2.8

interface ConnectionOptions extends SessionOptions {
  /** Called with the heartbeat interval that the server requests. */
  onHeartbeat(heartbeatMs: number): void
  /** The samples for the server; undefined: this node takes none. */
  readonly feed: UsageFeed | undefined
}

export function createConnection(options: ConnectionOptions, reports: KeptReports, calls: ServerCalls) {
  return (socket: WebSocket, openMs: number): Connection => {
    const state: ConnectionState = {
      socket,
      session: undefined,
      synced: false,
      hasCopies: false,
      hasNetworks: false,
      lastReceivedAt: performance.now(),
      heartbeats: undefined,
    }
    const openTimer = setTimeout(() => {
      if (!state.synced) socket.terminate()
    }, openMs)
    const noteReceived = (): void => {
      state.lastReceivedAt = performance.now()
    }
    socket.on('pong', noteReceived)
    const streams = options.streams?.(streamSocket(socket))
    socket.on('message', (data, isBinary) => {
      noteReceived()
      try {
        if (isBinary) handleFrame(streams, data)
        else handle({ options, reports, calls, streams, state }, readServerMessage(data))
      } catch (error) {
        options.log.warn({ error: String(error) }, 'invalid message from the server, disconnecting')
        socket.terminate()
      }
    })
    socket.on('close', () => {
      clearTimeout(openTimer)
      clearInterval(state.heartbeats)
      options.feed?.end()
      streams?.close()
    })
    return {
      send: (message) => state.session !== undefined && sendMessage(socket, message),
      sendUsage: (part) =>
        state.session !== undefined &&
        sendMessage(socket, { type: 'usage', session: state.session, ...part }),
      report: (observations, orphans) => reportNow(state, observations, orphans),
      reportCopies: (copies) => reportVolumes(state, { copies }),
      reportPool: (pool) => reportVolumes(state, { pool }),
      reportNetworks: (networks) => reportNetworks(state, networks),
      reportDisks: (disks) => reportDisks(state, disks),
      reportAuthorities: (pins) => reportAuthorities(state, pins),
      // Terminates a connection that is not open: a server that does not answer must not keep the agent from stopping.
      close: () => (socket.readyState === WebSocket.OPEN ? socket.close(1000) : socket.terminate()),
    }
  }
}

interface Context {
  readonly options: ConnectionOptions
  readonly reports: KeptReports
  readonly calls: ServerCalls
  readonly streams: SessionStreams | undefined
  readonly state: ConnectionState
}

function sendMessage(socket: WebSocket, message: AgentMessage): boolean {
  if (socket.readyState !== WebSocket.OPEN) return false
  socket.send(encodeOpen(message))
  return true
}

function reportNow(
  { socket, session, synced }: ConnectionState,
  observations: Observation[],
  orphans: readonly string[] = [],
): void {
  const left = orphans.length === 0 ? {} : { orphans: [...orphans] }
  if (synced && session !== undefined) sendMessage(socket, { type: 'status', session, observations, ...left })
}

function reportVolumes(
  { socket, session, hasCopies }: ConnectionState,
  report: { readonly copies: ObservedCopy[] } | { readonly pool: PoolReport },
): void {
  if (!hasCopies || session === undefined) return
  sendMessage(socket, { type: 'status', session, observations: [], ...report })
}

function reportNetworks(
  { socket, session, hasNetworks }: ConnectionState,
  networks: ObservedNetwork[],
): void {
  if (!hasNetworks || session === undefined) return
  sendMessage(socket, { type: 'status', session, observations: [], networks })
}

function reportDisks({ socket, session, synced }: ConnectionState, disks: NodeDisks): void {
  if (synced && session !== undefined)
    sendMessage(socket, { type: 'status', session, observations: [], disks })
}

function reportAuthorities({ socket, session, synced }: ConnectionState, pins: readonly string[]): void {
  if (synced && session !== undefined)
    sendMessage(socket, { type: 'status', session, observations: [], authorities: [...pins] })
}

function streamSocket(socket: WebSocket): StreamSocket {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount
    },
    send(frame, onWritten) {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame, onWritten)
    },
    sendMessage: (message) => sendMessage(socket, message),
  }
}

function handleFrame(streams: SessionStreams | undefined, data: RawData): void {
  if (Buffer.isBuffer(data)) streams?.frame(data)
}

/** Handles a message. `message` is undefined for a type that only newer servers send; such a message is ignored. */
function handle(context: Context, message: ServerMessage | undefined): void {
  const { options, calls, streams, state } = context
  if (message === undefined) return
  switch (message.type) {
    case 'challenge':
      sendMessage(state.socket, hello(options, message.nonce))
      break
    case 'welcome':
      state.session = message.session
      if (message.usage !== undefined) options.feed?.begin(message.usage.newestAgeMs)
      startHeartbeats(options, state, message.heartbeatMs)
      options.onHeartbeat(message.heartbeatMs)
      options.onWelcome?.(message)
      options.log.info({ session: message.session }, 'session opened')
      break
    case 'complete':
    case 'delta':
      if (message.session === state.session) applyDesired(context, message)
      break
    case 'call':
      void answerCall(context, message)
      break
    case 'answer':
      calls.settle(message)
      break
    case 'open':
    case 'credit':
    case 'end':
      streams?.handle(message)
      break
    case 'close':
      options.log.warn({ code: message.code, text: message.message }, 'server closes the session')
      break
  }
}

function hello({ state, machine, authorities }: SessionOptions, nonce: string): AgentMessage {
  const { nodeId, generation, identityKey } = state
  const { bootId, version, capabilities, labels, engine, capacity, ...options } = machine()
  const text = helloText(nonce, nodeId, generation, bootId)
  const signature = sign(null, Buffer.from(text), identityKey).toString('base64url')
  const facts = { bootId, version, capabilities: [...capabilities], labels: { ...labels }, engine, capacity }
  return {
    type: 'hello',
    nodeId,
    generation,
    signature,
    ...facts,
    ...options,
    ...defined({ authorities: authorities && [...authorities.pins()] }),
  }
}

function applyDesired(
  { options, reports, state }: Context,
  message: Extract<ServerMessage, { type: 'complete' | 'delta' }>,
): void {
  const { revision } = message
  const items = joinTemplates(message)
  const complete = message.type === 'complete'
  const delta = message.type === 'delta' ? message : undefined
  const { gone = [], unrouted = [], goneCopies = [], goneNetworks = [] } = delta ?? {}
  const { store, routes, routers, copies, peers, offers, wipePool, networks } = message
  state.hasCopies ||= copies !== undefined
  state.hasNetworks ||= networks !== undefined
  options.onDesired({
    revision,
    items,
    complete,
    gone,
    unrouted,
    goneCopies,
    goneNetworks,
    ...defined({ store, routes, routers, copies, peers, offers, wipePool, networks }),
    ...(message.type === 'complete' ? defined({ jobLogs: message.jobLogs }) : {}),
  })
  if (state.synced && !complete) return
  state.synced = true
  if (complete) reports.forgetGone(new Set<AssignmentId>(items.map(({ assignmentId }) => assignmentId)))
  for (const part of reports.all()) reportNow(state, part)
  for (const copies of inMessages(options.copies?.() ?? [])) reportVolumes(state, { copies })
  for (const networks of inMessages(options.networks?.() ?? [])) reportNetworks(state, networks)
  const pool = options.pool?.()
  if (pool !== undefined) reportVolumes(state, { pool })
  const disks = options.disks?.()
  if (disks !== undefined) reportDisks(state, disks)
  if (complete && reports.orphans().length > 0) reportNow(state, [], reports.orphans())
  if (message.type === 'complete') options.authorities?.learn(message.authorities ?? [])
}

async function answerCall({ options, state }: Context, call: Call): Promise<void> {
  const { id, method } = call
  if (method === 'measure' || method === 'checkpoint') {
    const measurements = method === 'measure' ? options.measure?.() : await options.checkpoint?.()
    sendMessage(state.socket, { type: 'answer', id, measurements: measurements ?? [] })
    return
  }
  if (method === 'promises' || method === 'prepare') {
    sendMessage(state.socket, { type: 'answer', id, ...(await answerPromises(options, method, call)) })
    return
  }
  if (method === 'delete_divergence') {
    sendMessage(state.socket, { type: 'answer', id, ...(await deleteDivergence(options, call)) })
    return
  }
  if (method !== 'containers') {
    sendMessage(state.socket, { type: 'answer', id, error: 'not_answered_here' })
    return
  }
  try {
    sendMessage(state.socket, { type: 'answer', id, containers: await options.containers() })
  } catch (error) {
    options.log.warn({ message: String(error) }, 'container list for the server failed')
    sendMessage(state.socket, { type: 'answer', id, error: 'the engine does not answer' })
  }
}

async function deleteDivergence(
  options: SessionOptions,
  { divergence }: Call,
): Promise<{ readonly deleted: boolean } | { readonly error: string }> {
  if (options.deleteDivergence === undefined || divergence === undefined)
    return { error: 'not_answered_here' }
  try {
    return { deleted: await options.deleteDivergence(divergence) }
  } catch (error) {
    options.log.warn({ ...divergence, message: String(error) }, 'deletion of quarantined data failed')
    return { error: 'the pool cannot be read' }
  }
}

async function answerPromises(
  { promises, log }: SessionOptions,
  method: 'promises' | 'prepare',
  { volumes = [] }: Call,
): Promise<{ readonly promises: PromiseAnswer[] } | { readonly error: string }> {
  if (promises === undefined || volumes.length > CALL_VOLUMES) return { error: 'not_answered_here' }
  try {
    return { promises: await promises(method, volumes) }
  } catch (error) {
    log.warn({ message: String(error) }, 'promises for the server failed')
    return { error: 'the promises are unavailable' }
  }
}

/** Sends heartbeats. After a time without messages from the server, a heartbeat is a ping, which requires an answer. */
function startHeartbeats(options: ConnectionOptions, state: ConnectionState, heartbeatMs: number): void {
  clearInterval(state.heartbeats)
  const everyMs = Math.max(SHORTEST_HEARTBEAT_MS, heartbeatMs)
  state.heartbeats = setInterval(() => {
    const { socket } = state
    const silentMs = performance.now() - state.lastReceivedAt
    if (silentMs > DISCONNECT_AFTER * everyMs) socket.terminate()
    else if (socket.readyState === WebSocket.OPEN) {
      const needsAnswer = silentMs > PING_AFTER * everyMs
      if (needsAnswer) socket.ping()
      void sendHeartbeat(options, state, needsAnswer)
    }
  }, everyMs)
}

/** Sends the newest samples, if there are new ones, and the health. A ping replaces a heartbeat without both. */
async function sendHeartbeat(
  { feed, engineHealth, hold: readHold, log }: ConnectionOptions,
  { socket, session }: ConnectionState,
  isPinged: boolean,
): Promise<void> {
  const usage = await feed?.next().catch((error: unknown) => {
    log.warn({ error: String(error) }, 'samples of usage failed')
    return undefined
  })
  const [engine, hold] = [engineHealth?.(), readHold?.()]
  if (
    session === undefined ||
    (isPinged && usage === undefined && engine === undefined && hold === undefined)
  )
    return
  sendMessage(socket, { type: 'heartbeat', session, ...defined({ usage, engine, hold }) })
}
