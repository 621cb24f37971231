// The streams of one session, on the server replica that has the node's socket. Streams end with the session. A node that
// sends more than its credit violates the protocol, so no node can exhaust this process's memory.

import {
  type AgentMessage,
  STREAM_HEADER_BYTES,
  STREAM_PAYLOAD_BYTES,
  STREAMS_PER_NODE,
} from '@holdfast/contract'
import type { NodeStream, StreamEnd, StreamReader, StreamRequest } from '../../ports/node-streams.ts'
import { type HeldStream, type Session, send, sendFrame } from '../session/session.ts'
import { frameBytes, frameOf, readEnd } from './frames.ts'

/** Messages allowed beyond the rate limit for each stream that the server opens, because the node must answer. */
const MESSAGES_PER_STREAM = 4

export function openSessionStream(
  session: Session,
  request: StreamRequest,
  reader: StreamReader,
): NodeStream {
  const { streams } = session
  const id = session.nextStream
  if (streams.size >= STREAMS_PER_NODE) return endedStream(reader, 'too_many_streams')
  if (!send(session.socket, { type: 'open', stream: id, ...request }))
    return endedStream(reader, 'node_unreachable')
  session.nextStream += 1
  session.earned += MESSAGES_PER_STREAM
  const held: HeldStream = { reader, credit: 0, room: 0 }
  streams.set(id, held)
  return {
    credit(bytes) {
      if (streams.get(id) !== held) return
      held.credit += bytes
      send(session.socket, { type: 'credit', stream: id, bytes })
    },
    get room() {
      return held.room
    },
    send(channel, payload) {
      if (streams.get(id) !== held) return
      held.room -= frameBytes(payload)
      session.earned += 1
      sendFrame(session.socket, frameOf(channel, id, payload))
    },
    close() {
      if (streams.get(id) !== held) return
      streams.delete(id)
      send(session.socket, { type: 'end', stream: id })
    },
  }
}

/** Creates a stream that has failed. The reader's `end` is called later, when the caller already has the stream. */
export function endedStream(reader: StreamReader, error: NonNullable<StreamEnd['error']>): NodeStream {
  let open = true
  setImmediate(() => open && reader.end({ error }))
  return {
    credit() {},
    room: 0,
    send() {},
    close() {
      open = false
    },
  }
}

/** Delivers a frame. `late`: the server has just closed the stream; `beyond`: the frame exceeds credit or size limit. */
export function deliverFrame(session: Session, frame: Buffer): 'delivered' | 'late' | 'beyond' {
  const payloadBytes = frame.length - STREAM_HEADER_BYTES
  if (payloadBytes < 0 || payloadBytes > STREAM_PAYLOAD_BYTES) return 'beyond'
  const held = session.streams.get(frame.readUInt32BE(1))
  if (held === undefined) return 'late'
  if (frame.length > held.credit) return 'beyond'
  held.credit -= frame.length
  held.reader.data(frame[0] ?? 0, frame.subarray(STREAM_HEADER_BYTES))
  return 'delivered'
}

export function receiveStreamMessage(
  { streams }: Session,
  message: Extract<AgentMessage, { type: 'credit' | 'end' }>,
): void {
  const held = streams.get(message.stream)
  if (held === undefined) return
  if (message.type === 'credit') {
    held.room += message.bytes
    held.reader.room(message.bytes)
  } else {
    streams.delete(message.stream)
    held.reader.end(readEnd(message))
  }
}

/** Ends all streams of a session. Call this once the session's socket is closed. */
export function endStreams({ streams }: Session): void {
  const open = [...streams.values()]
  streams.clear()
  for (const { reader } of open) reader.end({ error: 'node_unreachable' })
}
