// Shares a session's socket among its streams: the streams send frames in turn, and the socket's buffer stays so small
// that a heartbeat or a report does not have to wait long.

import { STREAM_HEADER_BYTES } from '@holdfast/contract'
import type { StreamSocket } from '../ports/streams.ts'

/** A stream with frames to send. */
export interface FrameSource {
  /** The stream's next frame; undefined if it has none that may be sent now. */
  nextFrame(): Buffer | undefined
}

export interface Link {
  /** Called when a stream may have a frame to send. */
  wake(source: FrameSource): void
  /** Closes the link, which sends nothing from then on. */
  close(): void
}

const MAX_BUFFERED_BYTES = 128 * 1024
const FRAMES_IN_A_TURN = 8

export function createLink(socket: Pick<StreamSocket, 'bufferedAmount' | 'send'>): Link {
  const awake = new Set<FrameSource>()
  let planned: NodeJS.Immediate | undefined
  let closed = false
  const plan = (): void => {
    if (!closed && awake.size > 0) planned ??= setImmediate(turn)
  }
  const turn = (): void => {
    planned = undefined
    let sent = 0
    for (const source of awake) {
      if (sent >= FRAMES_IN_A_TURN) break
      // Stops while the socket's buffer is full; the callback of a completed send continues the loop.
      if (socket.bufferedAmount > MAX_BUFFERED_BYTES) return
      const frame = source.nextFrame()
      // A stream that had a frame moves to the end of the queue.
      awake.delete(source)
      if (frame === undefined) continue
      awake.add(source)
      socket.send(frame, plan)
      sent += 1
    }
    plan()
  }
  return {
    wake(source) {
      awake.add(source)
      plan()
    },
    close() {
      closed = true
      clearImmediate(planned)
      awake.clear()
    },
  }
}

/** Allocates a frame with its header set; the caller writes the payload after the header. */
export function allocateFrame(channel: number, stream: number, payloadBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(STREAM_HEADER_BYTES + payloadBytes)
  frame[0] = channel
  frame.writeUInt32BE(stream, 1)
  return frame
}
