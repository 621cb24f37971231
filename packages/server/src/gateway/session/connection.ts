// Handles one agent socket: challenge, hello, then the messages of its session. See docs/design/agent.md#session.

import type { AgentMessage, AssignmentId, Hello } from '@holdfast/contract'
import type { RawData } from 'ws'
import { sendComplete } from '../desired/send-desired.ts'
import type { Connection, GatewayParts } from '../parts.ts'
import { acceptAuthorities } from '../reports/accept-authorities.ts'
import { acceptCopies, flushCopies } from '../reports/accept-copies.ts'
import { acceptDisks } from '../reports/accept-disks.ts'
import { acceptEngineHealth } from '../reports/accept-engine-health.ts'
import { acceptHold } from '../reports/accept-hold.ts'
import { acceptNetworks } from '../reports/accept-networks.ts'
import { acceptOrphans } from '../reports/accept-orphans.ts'
import { acceptPool } from '../reports/accept-pool.ts'
import { acceptReports } from '../reports/accept-status.ts'
import { flushReports } from '../reports/flush-reports.ts'
import { deliverFrame, endStreams, receiveStreamMessage } from '../streams/session-streams.ts'
import { answerAgent } from './answer-agent.ts'
import { guardSession } from './guard-session.ts'
import { openSession } from './open-session.ts'
import { readAgentMessage } from './read-message.ts'
import {
  type AgentSocket,
  type CloseReason,
  closeSession,
  newSession,
  type Session,
  send,
} from './session.ts'
import { welcomeOf } from './welcome.ts'

const NONCE_BYTES = 32
const WINDOW_MS = 10_000
const MESSAGES_IN_WINDOW = 500
const BYTES_IN_WINDOW = 8 * 1024 * 1024

export function acceptConnection(parts: GatewayParts, socket: AgentSocket): void {
  const { ids, times } = parts.context
  const connection: Connection = {
    socket,
    nonce: Buffer.from(ids.bytes(NONCE_BYTES)).toString('base64url'),
    helloUntil: performance.now() + times.helloMs,
    opening: false,
    ended: false,
    session: undefined,
  }
  parts.waiting.add(connection)
  socket.on('message', (data, isBinary) => receive(parts, connection, data, isBinary))
  // An agent that has received nothing for a while sends a ping, which is also its heartbeat.
  socket.on('ping', (data) => answerPing(connection, data.length))
  socket.on('close', () => closed(parts, connection))
  // Every socket error is followed by a close event, whose handler does the cleanup.
  socket.on('error', () => {})
  send(socket, { type: 'challenge', nonce: connection.nonce })
}

const MAX_PONG_BACKLOG = 64 * 1024

/** Answers a ping, unless the agent does not read its socket. Too many pings, or one before the hello, end the socket. */
function answerPing({ session, socket }: Connection, bytes: number): void {
  if (session === undefined || isTooMuch(session, bytes)) {
    socket.terminate()
    return
  }
  session.heardAt = performance.now()
  if (socket.bufferedAmount < MAX_PONG_BACKLOG) socket.pong()
}

function closed({ waiting, calls }: GatewayParts, connection: Connection): void {
  waiting.delete(connection)
  const { session } = connection
  if (session?.socket !== connection.socket) return
  session.socket = undefined
  calls.abandon(session)
  endStreams(session)
}

function receive(parts: GatewayParts, connection: Connection, data: RawData, isBinary: boolean): void {
  const { session } = connection
  parts.context.counts.messages += 1
  // Messages that arrive after the session has ended are ignored.
  if (connection.ended || (session !== undefined && session.socket !== connection.socket)) return
  if (isBinary && Buffer.isBuffer(data)) {
    receiveFrame(parts, connection, data)
    return
  }
  // The rate limit is checked before the message is decoded, because decoding is expensive.
  if (session !== undefined && isTooMuch(session, bytesOf(data))) {
    end(parts, connection, 'too_many_messages')
    return
  }
  const message = readAgentMessage(data)
  if (message === 'unknown' && session !== undefined) {
    parts.context.counts.unknownMessages += 1
    return
  }
  const isHello = message !== 'unknown' && message?.type === 'hello'
  if (
    message === 'unknown' ||
    message === undefined ||
    isHello !== (session === undefined) ||
    connection.opening
  )
    end(parts, connection, 'protocol_violation')
  else if (session !== undefined) guardSession(parts, session, () => handle(parts, session, message))
  else if (isHello) startOpening(parts, connection, message)
}

/** Handles a stream frame. Frames within the stream's credit are not rate-limited, because the server requested them. */
function receiveFrame(parts: GatewayParts, connection: Connection, frame: Buffer): void {
  const { session } = connection
  if (session === undefined) {
    end(parts, connection, 'protocol_violation')
    return
  }
  session.heardAt = performance.now()
  guardSession(parts, session, () => {
    const fate = deliverFrame(session, frame)
    if (fate === 'beyond') end(parts, connection, 'protocol_violation')
    else if (fate === 'late' && isTooMuch(session, frame.length)) end(parts, connection, 'too_many_messages')
  })
}

function startOpening(parts: GatewayParts, connection: Connection, hello: Hello): void {
  connection.opening = true
  open(parts, connection, hello)
    .catch((error: unknown) => {
      parts.context.log.warn({ nodeId: hello.nodeId, error: String(error) }, 'session open failed')
      end(parts, connection, 'unavailable')
    })
    .finally(() => {
      connection.opening = false
    })
}

function end({ context, held, waiting }: GatewayParts, connection: Connection, code: CloseReason): void {
  if (code === 'protocol_violation') context.counts.violations += 1
  connection.ended = true
  waiting.delete(connection)
  if (connection.session === undefined) closeSession(connection.socket, code)
  else held.drop(connection.session, code)
}

const bytesOf = (data: RawData): number =>
  Array.isArray(data) ? data.reduce((sum, part) => sum + part.byteLength, 0) : data.byteLength

function isTooMuch(session: Session, bytes: number): boolean {
  const now = performance.now()
  if (now >= session.windowEndsAt) {
    session.windowEndsAt = now + WINDOW_MS
    session.messages = 0
    session.bytes = 0
    session.writes = 0
    session.agentCalls = 0
    session.earned = 0
  }
  session.messages += 1
  session.bytes += bytes
  return session.messages > MESSAGES_IN_WINDOW + session.earned || session.bytes > BYTES_IN_WINDOW
}

async function open(parts: GatewayParts, connection: Connection, hello: Hello): Promise<void> {
  const { context, held, index, usage, waiting } = parts
  if (parts.access.isCutOff) {
    context.counts.hellosRefused += 1
    end(parts, connection, 'unavailable')
    return
  }
  const opened = await openSession(parts, hello, connection.nonce)
  if (opened === undefined) {
    context.counts.hellosRefused += 1
    end(parts, connection, 'session_refused')
    return
  }
  waiting.delete(connection)
  const now = performance.now()
  const session = newSession(opened, connection.socket, now)
  // The first resync is at a random time, so that nodes that connected at the same time do not resync at the same time.
  session.nextCompleteAt = now + Math.random() * context.times.resyncMs
  connection.session = session
  if (!held.add(session)) {
    held.drop(session, 'session_replaced')
    return
  }
  context.counts.sessionsOpened += 1
  send(connection.socket, welcomeOf(context, opened, usage.newestAgeMs(opened)))
  sendComplete(context, index, session)
  // The socket may have closed during the transaction that opened the session, so the session is closed, too.
  if (connection.socket.readyState !== connection.socket.OPEN) closed(parts, connection)
}

function handle(parts: GatewayParts, session: Session, message: AgentMessage): void {
  const { context, index, calls, usage } = parts
  const isAssigned = (id: AssignmentId): boolean => index.assignmentOf(session, id) !== undefined
  if ('session' in message && message.session !== session.epoch) return
  session.heardAt = performance.now()
  if (message.type === 'heartbeat' && message.usage !== undefined)
    usage.accept(session, message.usage, isAssigned)
  if (message.type === 'heartbeat' && message.engine !== undefined)
    void acceptEngineHealth(context, session, message.engine, session.heardAt)
  if (message.type === 'heartbeat') void acceptHold(context, session, message.hold, session.heardAt)
  if (message.type === 'usage') usage.refill(session, message, isAssigned)
  if (message.type === 'answer') calls.settle(session, message)
  if (message.type === 'credit' || message.type === 'end') receiveStreamMessage(session, message)
  if (message.type === 'call')
    answerAgent(context, index, session, message).catch((error: unknown) =>
      context.log.warn({ nodeId: session.nodeId, error: String(error) }, 'agent call failed'),
    )
  if (message.type !== 'status') return
  acceptReports(context, index, session, message.observations)
  void acceptOrphans(context, session, message.orphans ?? [], session.heardAt)
  flushReports(parts, session)
  acceptCopies(context, index.copies, session, message.copies ?? [])
  flushCopies(parts, session)
  acceptNetworks(context, index.networks, session, message.networks ?? [])
  if (message.pool !== undefined) acceptPool(context, session, message.pool)
  if (message.disks !== undefined) void acceptDisks(context, session, message.disks)
  if (message.authorities !== undefined) void acceptAuthorities(context, session, message.authorities)
}
