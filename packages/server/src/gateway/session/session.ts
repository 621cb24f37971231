// The session of one node on this server replica. A session outlives its socket, because a node's silence is measured
// from the last frame received and not from the end of the connection.

import type {
  AssignmentId,
  NodeId,
  NodeStatus,
  Observation,
  PoolReport,
  ServerMessage,
  TenantId,
  VolumeId,
} from '@holdfast/contract'
import { encodeOpen } from '@holdfast/contract'
import type { RawData } from 'ws'
import type { StreamReader } from '../../ports/node-streams.ts'
import type { StoredCopyReport } from '../../store/records.ts'

/** Limit of writes for a node in a rate-limit window: of its reports, its volumes and its confirmations together. */
export const WRITES_IN_WINDOW = 100

/** The part of a WebSocket that the gateway uses. The simulation implements this interface without a network. */
export interface AgentSocket {
  readonly readyState: number
  /** The value of `readyState` while both sides may send. */
  readonly OPEN: number
  readonly bufferedAmount: number
  send(data: string | Buffer): void
  close(code: number, reason: string): void
  terminate(): void
  pong(): void
  on(event: 'message', listener: (data: RawData, isBinary: boolean) => void): unknown
  on(event: 'ping', listener: (data: Buffer) => void): unknown
  on(event: 'close' | 'error', listener: () => void): unknown
}

export interface Session {
  readonly tenant: TenantId
  readonly nodeId: NodeId
  /** The generation of the enrollment whose key opened the session. */
  readonly generation: number
  readonly epoch: number
  /** The agent's socket; undefined once the connection is closed. */
  socket: AgentSocket | undefined
  /** Monotonic time at which the last frame of any kind arrived from the node. */
  heardAt: number
  /** The status in the node's record, as last seen by this server replica. */
  reportedStatus: NodeStatus
  /** True while a change of the node's status is being written to the store. */
  writingStatus: boolean
  nextCompleteAt: number
  /** The other routers of the tenant as last sent in this session, as text; undefined before the first time. */
  sentRouters: string | undefined
  /** End of the rate-limit window in which `messages`, `bytes`, `writes`, `agentCalls` and `earned` are counted. */
  windowEndsAt: number
  messages: number
  bytes: number
  writes: number
  /** Number of the node's calls that were relayed to the broker in the current rate-limit window. */
  agentCalls: number
  /** Number of messages that the node may send beyond the rate limit, because they answer messages of the server. */
  earned: number
  /** The open streams of the session by stream number. */
  readonly streams: Map<number, HeldStream>
  nextStream: number
  reports: Reports | undefined
  copyReports: CopyReports | undefined
  /** The newest report about the node's pool while one is being stored. */
  poolReport: PoolReport | undefined
  /** Monotonic time of the last report about the disks that was accepted; undefined before the first. */
  disksAt: number | undefined
}

/** The server's end of a stream that is open on the node. */
export interface HeldStream {
  readonly reader: StreamReader
  /** Number of bytes that the node may still send on the stream. */
  credit: number
  /** Number of bytes that the node can still receive on the stream. */
  room: number
}

export type OpenedSession = Pick<Session, 'tenant' | 'nodeId' | 'generation' | 'epoch' | 'reportedStatus'>

export const newSession = (opened: OpenedSession, socket: AgentSocket | undefined, now: number): Session => ({
  ...opened,
  socket,
  heardAt: now,
  writingStatus: false,
  nextCompleteAt: 0,
  sentRouters: undefined,
  windowEndsAt: 0,
  messages: 0,
  bytes: 0,
  writes: 0,
  agentCalls: 0,
  earned: 0,
  streams: new Map(),
  nextStream: 1,
  reports: undefined,
  copyReports: undefined,
  poolReport: undefined,
  disksAt: undefined,
})

/** Observations that a session has accepted. Created at the first report, because an idle node sends no reports. */
export interface Reports {
  /** The newest observation of each assignment that the session has accepted from the node. */
  readonly newest: Map<AssignmentId, Observation>
  /** The accepted observations that are not stored yet, one for each assignment. */
  readonly unwritten: Map<AssignmentId, Observation>
  writing: boolean
}

/** A report about a copy of a volume, as far as it is stored. */
export type ReportedCopy = Omit<StoredCopyReport, 'v' | 'at' | 'nodeId'>

/** Reports about copies that a session has accepted. Created at the first report. */
export interface CopyReports {
  readonly newest: Map<VolumeId, ReportedCopy>
  /** The accepted reports that are not stored yet, one for each volume. */
  readonly unwritten: Map<VolumeId, ReportedCopy>
  writing: boolean
}

/** Number of unsent bytes above which an agent is disconnected, because it does not read its socket. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024

/** Sends a message to an agent. Returns false if the socket is closed. */
export function send(socket: AgentSocket | undefined, message: ServerMessage): boolean {
  if (socket === undefined || socket.readyState !== socket.OPEN) return false
  if (socket.bufferedAmount > MAX_BUFFERED_BYTES) {
    socket.terminate()
    return false
  }
  socket.send(encodeOpen(message))
  return true
}

export function sendFrame(socket: AgentSocket | undefined, frame: Buffer): void {
  if (socket !== undefined && socket.readyState === socket.OPEN) socket.send(frame)
}

export type CloseReason =
  | 'session_refused'
  | 'session_replaced'
  | 'protocol_violation'
  | 'too_many_messages'
  | 'unavailable'
  | 'server_closing'

const CLOSES: { readonly [C in CloseReason]: { readonly close: number; readonly message: string } } = {
  session_refused: { close: 1008, message: 'This node, key or generation has no session here.' },
  session_replaced: {
    close: 1008,
    message: 'A newer session of the node replaced this one, or the node is gone.',
  },
  protocol_violation: { close: 1008, message: 'The message is not one of this protocol.' },
  too_many_messages: { close: 1008, message: 'The node sends more than it may.' },
  unavailable: { close: 1013, message: 'The session cannot be opened or kept now; try again.' },
  server_closing: { close: 1001, message: 'The server is stopping; connect to another one.' },
}

export function closeSession(socket: AgentSocket, code: CloseReason): void {
  const { close, message } = CLOSES[code]
  send(socket, { type: 'close', code, message })
  socket.close(close, code)
}
