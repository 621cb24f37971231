// A byte stream to a container on a node, through the server replica that has the node's session. Flow control is by
// credit: the reader grants credit and the writer sends no more bytes than granted, so buffers on the way are bounded.

import type { NodeId, Open, StreamError, TenantId } from '@holdfast/contract'

export type StreamRequest = Omit<Open, 'type' | 'stream'>

export interface StreamEnd {
  readonly exitCode?: number
  readonly error?: StreamError
}

export interface StreamReader {
  /** Receives bytes, which the reader then owns. The bytes consume credit. */
  data(channel: number, payload: Buffer): void
  /** Called when the node accepts `bytes` more bytes of input. */
  room(bytes: number): void
  /** Called once when the stream ends; no other call follows. */
  end(end: StreamEnd): void
}

export interface NodeStream {
  /** Allows the node to send `bytes` more bytes of frames, headers included. */
  credit(bytes: number): void
  /** Number of bytes of frames that the node accepts now. */
  readonly room: number
  /** Sends input to the node: at most STREAM_PAYLOAD_BYTES, and at most `room`. */
  send(channel: number, payload: Buffer): void
  /** Ends the stream; the reader gets no further calls. */
  close(): void
}

/** Opens a stream and never throws: for an unreachable node the stream ends with an error. */
export type OpenNodeStream = (
  tenant: TenantId,
  nodeId: NodeId,
  request: StreamRequest,
  reader: StreamReader,
) => NodeStream
