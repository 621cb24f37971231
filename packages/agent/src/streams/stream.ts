// The interface of an open stream.

import type { StreamError } from '@holdfast/contract'

export interface StreamEnd {
  readonly exitCode?: number
  readonly error?: StreamError
}

export interface NodeStream {
  /** Called after a frame was sent, when the send queue may have room. */
  onRoom(): void
  /** Handles a frame from the server and calls `onConsumed` when the stream no longer needs the bytes. */
  input(channel: number, payload: Buffer, onConsumed: () => void): void
  /** Called when the server closed the stream or disconnected. */
  close(): void
}
