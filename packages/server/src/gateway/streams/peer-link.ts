// One stream between two server replicas over its own socket, with the frames and messages of the agent protocol and stream
// number 0. Credit is passed from end to end, so a server replica in between buffers no more than the reader allows.

import {
  creditShape,
  decodeOpen,
  encodeOpen,
  STREAM_HEADER_BYTES,
  STREAM_PAYLOAD_BYTES,
} from '@holdfast/contract'
import { WebSocket } from 'ws'
import type { StreamEnd, StreamReader } from '../../ports/node-streams.ts'
import { frameOf, readEnd } from './frames.ts'

const STREAM = 0

export const MAX_PEER_MESSAGE = STREAM_HEADER_BYTES + STREAM_PAYLOAD_BYTES

export interface PeerLink {
  credit(bytes: number): void
  frame(channel: number, payload: Buffer): void
  end(end: StreamEnd): void
}

/** Connects the reader to the socket. The reader receives the end exactly once, even if the socket breaks. */
export function linkPeer(socket: WebSocket, reader: StreamReader): PeerLink {
  let ended = false
  const finish = (end: StreamEnd): void => {
    if (!ended) reader.end(end)
    ended = true
  }
  socket.on('message', (data, isBinary) => {
    if (ended || !Buffer.isBuffer(data)) return
    try {
      if (isBinary) reader.data(data[0] ?? 0, data.subarray(STREAM_HEADER_BYTES))
      else readMessage(JSON.parse(data.toString('utf8')), reader, finish)
    } catch {
      socket.terminate()
    }
  })
  socket.on('close', () => finish({ error: 'node_unreachable' }))
  // Every socket error is followed by a close event, whose handler does the cleanup.
  socket.on('error', () => {})
  const sendData = (data: Buffer | string): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data)
  }
  return {
    credit: (bytes) => sendData(encodeOpen({ type: 'credit', stream: STREAM, bytes })),
    frame: (channel, payload) => sendData(frameOf(channel, STREAM, payload)),
    end(end) {
      ended = true
      sendData(encodeOpen({ type: 'end', stream: STREAM, ...end }))
      socket.close()
    },
  }
}

function readMessage(message: unknown, reader: StreamReader, finish: (end: StreamEnd) => void): void {
  const type = typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined
  if (type === 'credit') reader.room(decodeOpen(creditShape, message).bytes)
  if (type === 'end') finish(readEnd(message))
}
