// The streams of one session, on the replica that holds its socket. What the node sends beyond the credit it was
// given is no word of this protocol, so no node can fill this process. They end with the session.

import {
  type AgentMessage,
  STREAM_HEADER_BYTES,
  STREAM_PAYLOAD_BYTES,
  STREAMS_PER_NODE,
} from '@holdfast/contract'
import type { NodeStream, StreamEnd, StreamReader, StreamRequest } from '../../ports/node-streams.ts'
import { type HeldStream, type Session, send, sendFrame } from '../session/session.ts'
import { frameBytes, frameOf, readEnd } from './frames.ts'

/** A node answers what it is sent: each such frame lets it say a little more than it otherwise may. */
const WORDS_PER_OPENING = 4

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
  session.earned += WORDS_PER_OPENING
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

/** Told later, as every end is: whoever opens it has it in hand by then. */
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

/** `late`: of a stream that is closed here, as may happen for a moment. `beyond`: more than it may. */
export function takeFrame(session: Session, frame: Buffer): 'taken' | 'late' | 'beyond' {
  const payloadBytes = frame.length - STREAM_HEADER_BYTES
  if (payloadBytes < 0 || payloadBytes > STREAM_PAYLOAD_BYTES) return 'beyond'
  const held = session.streams.get(frame.readUInt32BE(1))
  if (held === undefined) return 'late'
  if (frame.length > held.credit) return 'beyond'
  held.credit -= frame.length
  held.reader.data(frame[0] ?? 0, frame.subarray(STREAM_HEADER_BYTES))
  return 'taken'
}

export function takeStreamWord(
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

/** The socket is gone. */
export function endStreams({ streams }: Session): void {
  const open = [...streams.values()]
  streams.clear()
  for (const { reader } of open) reader.end({ error: 'node_unreachable' })
}
