// What is said on one connection, from the server's challenge to its end.

import { sign } from 'node:crypto'
import {
  type AgentMessage,
  type AssignmentId,
  type Call,
  helloText,
  joinTemplates,
  type Observation,
  type ServerMessage,
} from '@holdfast/contract'
import { type RawData, WebSocket } from 'ws'
import type { SessionOptions } from '../ports/session.ts'
import type { SessionStreams, StreamSocket } from '../ports/streams.ts'
import type { KeptReports } from './kept-reports.ts'
import { readServerMessage } from './read-server-message.ts'
import type { ServerCalls } from './server-calls.ts'

export interface Conversation {
  /** False where the session is not open. */
  send(message: AgentMessage): boolean
  /** What is reported before the first set goes out after it. */
  report(observations: Observation[], orphans?: readonly string[]): void
  close(): void
}

interface Talk {
  readonly socket: WebSocket
  /** Undefined until the welcome. */
  session: number | undefined
  /** A first set has come: the server knows what it wishes, and takes reports. */
  told: boolean
  heardAt: number
  beats: NodeJS.Timeout | undefined
}

const SHORTEST_HEARTBEAT_MS = 20
/** In beats: silence at which the server is asked for a sign of life, and at which it is taken for gone. */
const ASK_AFTER = 1.2
const GONE_AFTER = 2.8

interface ConversationOptions extends SessionOptions {
  /** The server says how often it wants to hear of us. */
  onHeartbeat(heartbeatMs: number): void
}

export function createConversation(options: ConversationOptions, reports: KeptReports, calls: ServerCalls) {
  return (socket: WebSocket, openMs: number): Conversation => {
    const talk: Talk = {
      socket,
      session: undefined,
      told: false,
      heardAt: performance.now(),
      beats: undefined,
    }
    const late = setTimeout(() => {
      if (!talk.told) socket.terminate()
    }, openMs)
    const heard = (): void => {
      talk.heardAt = performance.now()
    }
    socket.on('pong', heard)
    const streams = options.streams?.(streamSocket(socket))
    socket.on('message', (data, isBinary) => {
      heard()
      try {
        if (isBinary) takeFrame(streams, data)
        else answer({ options, reports, calls, streams, talk }, readServerMessage(data))
      } catch (error) {
        options.log.warn({ error: String(error) }, 'the server said something that cannot be read')
        socket.terminate()
      }
    })
    socket.on('close', () => {
      clearTimeout(late)
      clearInterval(talk.beats)
      streams?.close()
    })
    return {
      send: (message) => talk.session !== undefined && say(socket, message),
      report: (observations, orphans) => reportNow(talk, observations, orphans),
      // A peer that is gone must not keep the agent from stopping.
      close: () => (socket.readyState === WebSocket.OPEN ? socket.close(1000) : socket.terminate()),
    }
  }
}

interface Context {
  readonly options: ConversationOptions
  readonly reports: KeptReports
  readonly calls: ServerCalls
  readonly streams: SessionStreams | undefined
  readonly talk: Talk
}

function say(socket: WebSocket, message: AgentMessage): boolean {
  if (socket.readyState !== WebSocket.OPEN) return false
  socket.send(JSON.stringify(message))
  return true
}

function reportNow(
  { socket, session, told }: Talk,
  observations: Observation[],
  orphans: readonly string[] = [],
): void {
  const left = orphans.length === 0 ? {} : { orphans: [...orphans] }
  if (told && session !== undefined) say(socket, { type: 'status', session, observations, ...left })
}

function streamSocket(socket: WebSocket): StreamSocket {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount
    },
    send(frame, taken) {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame, taken)
    },
    say: (message) => say(socket, message),
  }
}

function takeFrame(streams: SessionStreams | undefined, data: RawData): void {
  if (Buffer.isBuffer(data)) streams?.frame(data)
}

/** Undefined: of a type that only a newer server knows, who also knows that older agents leave it alone. */
function answer(context: Context, message: ServerMessage | undefined): void {
  const { options, calls, streams, talk } = context
  if (message === undefined) return
  switch (message.type) {
    case 'challenge':
      say(talk.socket, hello(options, message.nonce))
      break
    case 'welcome':
      talk.session = message.session
      startHeartbeats(talk, message.heartbeatMs)
      options.onHeartbeat(message.heartbeatMs)
      options.onWelcome?.(message)
      options.log.info({ session: message.session }, 'the session is open')
      break
    case 'complete':
    case 'delta':
      if (message.session === talk.session) takeDesired(context, message)
      break
    case 'call':
      answerCall(context, message).catch(() => {})
      break
    case 'answer':
      calls.settle(message)
      break
    case 'open':
    case 'credit':
    case 'end':
      streams?.take(message)
      break
    case 'close':
      options.log.warn({ code: message.code, text: message.message }, 'the server ends the session')
      break
  }
}

function hello({ state, machine }: SessionOptions, nonce: string): AgentMessage {
  const { nodeId, generation, identityKey } = state
  const { bootId, version, labels, engine, capacity, peerAddress } = machine()
  const text = helloText(nonce, nodeId, generation, bootId)
  const signature = sign(null, Buffer.from(text), identityKey).toString('base64url')
  const facts = { bootId, version, labels: { ...labels }, engine, capacity }
  const peer = peerAddress === undefined ? {} : { peerAddress }
  return { type: 'hello', nodeId, generation, signature, ...facts, ...peer }
}

function takeDesired(
  { options, reports, talk }: Context,
  message: Extract<ServerMessage, { type: 'complete' | 'delta' }>,
): void {
  const { revision } = message
  const items = joinTemplates(message)
  const complete = message.type === 'complete'
  const { gone = [], unrouted = [] } = message.type === 'delta' ? message : {}
  const routes = message.routes === undefined ? {} : { routes: message.routes }
  options.onDesired({ revision, items, complete, gone, unrouted, ...routes })
  if (talk.told && !complete) return
  talk.told = true
  if (complete) reports.forgetGone(new Set<AssignmentId>(items.map(({ assignmentId }) => assignmentId)))
  for (const part of reports.all()) reportNow(talk, part)
  if (complete && reports.orphans().length > 0) reportNow(talk, [], reports.orphans())
}

async function answerCall({ options, talk }: Context, { id, method }: Call): Promise<void> {
  if (method !== 'containers') {
    say(talk.socket, { type: 'answer', id, error: 'not_answered_here' })
    return
  }
  try {
    say(talk.socket, { type: 'answer', id, containers: await options.containers() })
  } catch {
    // Not an empty list: what could not be seen is not nothing.
    say(talk.socket, { type: 'answer', id, error: 'the engine does not answer' })
  }
}

/** A ping is a beat too, and asks for an answer: so it takes its place when the server was silent for a while. */
function startHeartbeats(talk: Talk, heartbeatMs: number): void {
  clearInterval(talk.beats)
  const everyMs = Math.max(SHORTEST_HEARTBEAT_MS, heartbeatMs)
  talk.beats = setInterval(() => {
    const silentMs = performance.now() - talk.heardAt
    if (silentMs > GONE_AFTER * everyMs) talk.socket.terminate()
    else if (talk.socket.readyState !== WebSocket.OPEN) return
    else if (silentMs > ASK_AFTER * everyMs) talk.socket.ping()
    else if (talk.session !== undefined) say(talk.socket, { type: 'heartbeat', session: talk.session })
  }, everyMs)
}
