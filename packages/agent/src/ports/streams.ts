// The byte streams that the server opens over a session, and the socket that the streams share. All streams
// end with the session.

import type { AgentMessage, ServerMessage } from '@holdfast/contract'

/** The session's socket, as far as streams need it. */
export interface StreamSocket {
  /** Number of written bytes that the network has not accepted yet. */
  readonly bufferedAmount: number
  send(frame: Buffer, onWritten: () => void): void
  sendMessage(message: AgentMessage): void
}

export interface SessionStreams {
  handle(message: Extract<ServerMessage, { type: 'open' | 'credit' | 'end' }>): void
  frame(frame: Buffer): void
  close(): void
}

export type OpenSessionStreams = (socket: StreamSocket) => SessionStreams
