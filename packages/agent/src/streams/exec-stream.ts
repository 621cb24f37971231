// Streams a command that runs inside a container. No byte is dropped: a slow reader blocks the command, and a command
// that does not read its input blocks the writer.

import { decodeOpen, integer, type Open, object, STREAM_CHANNELS } from '@holdfast/contract'
import type { Engine, EngineExec } from '../ports/engine.ts'
import type { Outgoing } from './outgoing.ts'
import type { NodeStream, StreamEnd } from './stream.ts'

const FULL_BYTES = 128 * 1024
const LOW_BYTES = 32 * 1024
const MAX_SIDE = 10_000

const sizeShape = object({ cols: integer(), rows: integer() })

export async function openExecStream(
  engine: Pick<Engine, 'startExec'>,
  containerId: string,
  { command = [], tty = false }: Open,
  outgoing: Outgoing,
  onEnd: (end: StreamEnd) => void,
): Promise<NodeStream> {
  let exec: EngineExec | undefined
  let paused = false
  exec = await engine.startExec(
    containerId,
    { command, tty },
    {
      output(channel, bytes) {
        outgoing.push(STREAM_CHANNELS[channel], bytes)
        if (paused || outgoing.queuedBytes < FULL_BYTES) return
        paused = true
        exec?.pause()
      },
      end: (exitCode) => onEnd(exitCode === undefined ? { error: 'engine_unavailable' } : { exitCode }),
    },
  )
  const running = exec
  return {
    onRoom() {
      if (!paused || outgoing.queuedBytes > LOW_BYTES) return
      paused = false
      running.resume()
    },
    input(channel, payload, onConsumed) {
      if (channel === STREAM_CHANNELS.resize) resize(running, payload)
      if (channel !== STREAM_CHANNELS.stdin) onConsumed()
      else if (payload.length > 0) running.write(payload, onConsumed)
      else {
        running.endInput()
        onConsumed()
      }
    },
    close: running.close,
  }
}

/** Resizes the terminal. An invalid size, or a resize after the command's end, has no effect. */
function resize(exec: EngineExec, payload: Buffer): void {
  try {
    const { cols, rows } = decodeOpen(sizeShape, JSON.parse(payload.toString('utf8')))
    const isValid = [cols, rows].every((side) => side >= 1 && side <= MAX_SIDE)
    // Docker rejects a resize after the command's end, which is ignored.
    if (isValid) exec.resize(cols, rows).catch(() => {})
  } catch {
    // The payload is not a valid size, so the terminal keeps its size.
  }
}
