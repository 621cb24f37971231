// What waits to be sent of one stream: frames that are filled as bytes come and sent as the receiver gives credit. Who
// fills it looks at `queuedBytes` and stops in time; nothing here grows by itself.

import { STREAM_HEADER_BYTES, STREAM_PAYLOAD_BYTES } from '@holdfast/contract'
import { allocateFrame, type FrameSource, type Link } from './link.ts'

/** A small one is not made for each byte, nor a large one for a few. */
const SMALLEST_PAYLOAD = 2 * 1024

interface Waiting {
  readonly frame: Buffer
  filled: number
  sent: number
}

export interface Outgoing {
  /** Memory that is held, in bytes. */
  readonly queuedBytes: number
  push(channel: number, bytes: Buffer): void
  credit(bytes: number): void
  /** Called once all is sent. */
  finish(done: () => void): void
  /** What waits is wanted no more. */
  clear(): void
}

/** `onRoom` is told after each frame that was sent. */
export function createOutgoing(link: Link, stream: number, onRoom: () => void): Outgoing {
  const queue: Waiting[] = []
  let queuedBytes = 0
  let credit = 0
  let finished: (() => void) | undefined

  const append = (channel: number, bytes: Buffer): Buffer => {
    const last = queue.at(-1)
    const open = last !== undefined && last.frame[0] === channel && last.sent === 0 ? last : undefined
    const room = open === undefined ? 0 : open.frame.length - open.filled
    if (open === undefined || room === 0) {
      const size = Math.min(STREAM_PAYLOAD_BYTES, Math.max(SMALLEST_PAYLOAD, bytes.length))
      const frame = allocateFrame(channel, stream, size)
      queue.push({ frame, filled: STREAM_HEADER_BYTES, sent: 0 })
      queuedBytes += frame.length
      return append(channel, bytes)
    }
    const taken = bytes.copy(open.frame, open.filled)
    open.filled += taken
    return bytes.subarray(taken)
  }
  const source: FrameSource = {
    nextFrame() {
      const [first] = queue
      if (first === undefined) {
        const done = finished
        finished = undefined
        done?.()
        return undefined
      }
      const left = first.filled - STREAM_HEADER_BYTES - first.sent
      const payload = Math.min(left, credit - STREAM_HEADER_BYTES)
      if (payload <= 0) return undefined
      credit -= payload + STREAM_HEADER_BYTES
      const frame = cut(first, stream, payload)
      if (payload === left) {
        queue.shift()
        queuedBytes -= first.frame.length
      }
      onRoom()
      return frame
    },
  }
  return {
    get queuedBytes() {
      return queuedBytes
    },
    push(channel, bytes) {
      let rest = bytes
      while (rest.length > 0) rest = append(channel, rest)
      link.wake(source)
    },
    credit(bytes) {
      credit += bytes
      link.wake(source)
    },
    finish(done) {
      finished = done
      link.wake(source)
    },
    clear() {
      queue.length = 0
      queuedBytes = 0
      finished = undefined
    },
  }
}

/** The next bytes of a frame; where they are all of it, the frame itself. */
function cut(waiting: Waiting, stream: number, payload: number): Buffer {
  const { frame, filled, sent } = waiting
  const from = STREAM_HEADER_BYTES + sent
  waiting.sent += payload
  if (sent === 0 && payload === filled - STREAM_HEADER_BYTES) return frame.subarray(0, filled)
  const part = allocateFrame(frame[0] ?? 0, stream, payload)
  frame.copy(part, STREAM_HEADER_BYTES, from, from + payload)
  return part
}
