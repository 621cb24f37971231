// How the streams of one session share its socket: a frame of each in turn, and never so many that a beat or a report
// waits long behind them.

import { STREAM_HEADER_BYTES } from '@holdfast/contract'
import type { StreamSocket } from '../ports/streams.ts'

/** Whoever has frames to send. */
export interface FrameSource {
  /** The next frame that may be sent now, if any. */
  nextFrame(): Buffer | undefined
}

export interface Link {
  /** There may be something to send. */
  wake(source: FrameSource): void
  /** Nothing is sent any more. */
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
      // Called again when the network has taken what it has.
      if (socket.bufferedAmount > MAX_BUFFERED_BYTES) return
      const frame = source.nextFrame()
      // To the end of the line, or out of it.
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

/** An empty frame for so many bytes; the payload goes behind the header. */
export function allocateFrame(channel: number, stream: number, payloadBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(STREAM_HEADER_BYTES + payloadBytes)
  frame[0] = channel
  frame.writeUInt32BE(stream, 1)
  return frame
}
