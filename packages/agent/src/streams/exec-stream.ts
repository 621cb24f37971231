// A command inside a container and the person at its other end. Nothing is ever left out: who does not read makes the
// command wait, and a command that does not read makes the person wait.

import { decode, integer, type Open, object, STREAM_CHANNELS } from '@holdfast/contract'
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
    input(channel, payload, taken) {
      if (channel === STREAM_CHANNELS.resize) resize(running, payload)
      if (channel !== STREAM_CHANNELS.stdin) taken()
      else if (payload.length > 0) running.write(payload, taken)
      else {
        running.endInput()
        taken()
      }
    },
    close: running.close,
  }
}

/** A size that is none changes nothing; so does one that comes too late. */
function resize(exec: EngineExec, payload: Buffer): void {
  try {
    const { cols, rows } = decode(sizeShape, JSON.parse(payload.toString('utf8')))
    const sound = [cols, rows].every((side) => side >= 1 && side <= MAX_SIDE)
    if (sound) exec.resize(cols, rows).catch(() => {})
  } catch {
    // Not of this protocol: the terminal stays as it is.
  }
}
