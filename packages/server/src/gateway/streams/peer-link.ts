// One stream between two server replicas, over a socket of its own: the same frames and words as with an agent, under the
// number 0. Credit goes through from end to end, so a hop in between holds no more than the reader has room for.

import { creditShape, decode, STREAM_HEADER_BYTES, STREAM_PAYLOAD_BYTES } from '@holdfast/contract'
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

/** The reader is told of the end once, also where the socket breaks without a word. */
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
      else takeWord(JSON.parse(data.toString('utf8')), reader, finish)
    } catch {
      socket.terminate()
    }
  })
  socket.on('close', () => finish({ error: 'node_unreachable' }))
  socket.on('error', () => {})
  const say = (data: Buffer | string): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data)
  }
  return {
    credit: (bytes) => say(JSON.stringify({ type: 'credit', stream: STREAM, bytes })),
    frame: (channel, payload) => say(frameOf(channel, STREAM, payload)),
    end(end) {
      ended = true
      say(JSON.stringify({ type: 'end', stream: STREAM, ...end }))
      socket.close()
    },
  }
}

function takeWord(message: unknown, reader: StreamReader, finish: (end: StreamEnd) => void): void {
  const type = typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined
  if (type === 'credit') reader.room(decode(creditShape, message).bytes)
  if (type === 'end') finish(readEnd(message))
}
