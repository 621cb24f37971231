// The interface of an open log or exec stream.

import type { StreamError } from '@holdfast/contract'

export interface StreamEnd {
  readonly exitCode?: number
  readonly error?: StreamError
}

export interface NodeStream {
  /** A frame was sent, so the queue may have room. */
  onRoom(): void
  /** Handles a frame from the server and calls `onConsumed` when its bytes are no longer held. */
  input(channel: number, payload: Buffer, onConsumed: () => void): void
  /** The server closed the stream or is gone. */
  close(): void
}
