// The send queue of one stream: bytes are packed into frames, which are sent as the receiver grants credit. The queue has
// no limit of its own: its producer must watch `queuedBytes`.

import { STREAM_HEADER_BYTES, STREAM_PAYLOAD_BYTES } from '@holdfast/contract'
import { allocateFrame, type FrameSource, type Link } from './link.ts'

/** Smallest capacity of a frame, so that several small writes share one frame. */
const SMALLEST_PAYLOAD = 2 * 1024

interface QueuedFrame {
  readonly frame: Buffer
  filled: number
  sent: number
}

export interface Outgoing {
  /** Bytes of memory that the queue uses. */
  readonly queuedBytes: number
  push(channel: number, bytes: Buffer): void
  credit(bytes: number): void
  /** Ends the send queue; calls `done` once all queued bytes are sent. */
  finish(done: () => void): void
  /** Drops all bytes in the send queue. */
  clear(): void
}

/** Creates the send queue. `onRoom` is called after each sent frame. */
export function createOutgoing(link: Link, stream: number, onRoom: () => void): Outgoing {
  const queue: QueuedFrame[] = []
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
    const copied = bytes.copy(open.frame, open.filled)
    open.filled += copied
    return bytes.subarray(copied)
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
      let remaining = bytes
      while (remaining.length > 0) remaining = append(channel, remaining)
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

/** Cuts the next bytes from a queued frame into a new frame. If they are the whole frame, returns the queued frame. */
function cut(queued: QueuedFrame, stream: number, payload: number): Buffer {
  const { frame, filled, sent } = queued
  const from = STREAM_HEADER_BYTES + sent
  queued.sent += payload
  if (sent === 0 && payload === filled - STREAM_HEADER_BYTES) return frame.subarray(0, filled)
  const part = allocateFrame(frame[0] ?? 0, stream, payload)
  frame.copy(part, STREAM_HEADER_BYTES, from, from + payload)
  return part
}
