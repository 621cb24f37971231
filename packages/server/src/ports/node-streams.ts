// A stream of bytes to a container on a node, wherever the node's socket is: who reads gives credit, who writes asks how
// much room there is, and each hop holds no more than that.

import type { NodeId, Open, StreamError, TenantId } from '@holdfast/contract'

export type StreamRequest = Omit<Open, 'type' | 'stream'>

export interface StreamEnd {
  readonly exitCode?: number
  readonly error?: StreamError
}

export interface StreamReader {
  /** The bytes are the reader's from now on; their credit is used up. */
  data(channel: number, payload: Buffer): void
  /** There is room for so many more bytes of input. */
  room(bytes: number): void
  /** Once, and the last. */
  end(end: StreamEnd): void
}

export interface NodeStream {
  /** So many more bytes of frames may come, headers included. */
  credit(bytes: number): void
  /** What the node takes at once, in bytes of frames. */
  readonly room: number
  /** At most STREAM_PAYLOAD_BYTES, and within the room. */
  send(channel: number, payload: Buffer): void
  /** The reader is told nothing any more. */
  close(): void
}

/** Never throws: a node that nobody can reach is an end with that reason. */
export type OpenNodeStream = (
  tenant: TenantId,
  nodeId: NodeId,
  request: StreamRequest,
  reader: StreamReader,
) => NodeStream
