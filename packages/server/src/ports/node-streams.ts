// A byte stream to a container on a node, through the replica that holds the node's session. Flow control is by credit: the
// reader grants it, the writer stays within it, so buffers on the way are bounded.

import type { NodeId, Open, StreamError, TenantId } from '@holdfast/contract'

export type StreamRequest = Omit<Open, 'type' | 'stream'>

export interface StreamEnd {
  readonly exitCode?: number
  readonly error?: StreamError
}

export interface StreamReader {
  /** Passes ownership of the bytes and consumes their credit. */
  data(channel: number, payload: Buffer): void
  /** The node accepts so many more bytes of input. */
  room(bytes: number): void
  /** Called once, as the last call. */
  end(end: StreamEnd): void
}

export interface NodeStream {
  /** Allows so many more bytes of frames, headers included. */
  credit(bytes: number): void
  /** Bytes of frames that the node accepts now. */
  readonly room: number
  /** At most STREAM_PAYLOAD_BYTES, and at most `room`. */
  send(channel: number, payload: Buffer): void
  /** Ends the stream; the reader gets no further calls. */
  close(): void
}

/** Never throws: for an unreachable node the stream ends with that error. */
export type OpenNodeStream = (
  tenant: TenantId,
  nodeId: NodeId,
  request: StreamRequest,
  reader: StreamReader,
) => NodeStream
