// What a session asks of the streams of bytes that the server opens over it. They end with the session.

import type { AgentMessage, ServerMessage } from '@holdfast/contract'

/** The session's socket, as far as streams need it. */
export interface StreamSocket {
  /** Written and not yet taken by the network. */
  readonly bufferedAmount: number
  send(frame: Buffer, taken: () => void): void
  say(message: AgentMessage): void
}

export interface SessionStreams {
  /** `open`, `credit` or `end` of the server. */
  take(message: Extract<ServerMessage, { type: 'open' | 'credit' | 'end' }>): void
  frame(frame: Buffer): void
  close(): void
}

export type OpenSessionStreams = (socket: StreamSocket) => SessionStreams
