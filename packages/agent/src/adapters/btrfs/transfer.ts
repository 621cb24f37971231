// Moves the bytes of a checkpoint between a btrfs process and a stream, and computes their digest. A process whose bytes
// do not move is killed: a full seed may take days, but it always moves.

import { createHash } from 'node:crypto'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type CheckpointStream, PoolError, type StreamDigest } from '../../ports/volume-pool.ts'
import type { StreamingProcess } from './commands.ts'

const IDLE_MS = 60_000
/** A killed process can still wait for the disk. */
const KILL_MS = 10_000

interface Meter {
  readonly transform: Transform
  digest(): StreamDigest
  /** Ends the watch of idle time. */
  close(): void
}

function createMeter(maxBytes: number, onIdle: () => void): Meter {
  const hash = createHash('sha256')
  let bytes = 0
  const timer = setTimeout(onIdle, IDLE_MS)
  const transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      timer.refresh()
      bytes += chunk.length
      if (bytes > maxBytes) return done(new PoolError('full', `The stream is longer than ${maxBytes} bytes.`))
      hash.update(chunk)
      done(null, chunk)
    },
  })
  return {
    transform,
    digest: () => ({ bytes, sha256: hash.digest('hex') }),
    close: () => clearTimeout(timer),
  }
}

const idle = (): PoolError => new PoolError('timeout', `No bytes moved for ${IDLE_MS / 1000} s.`)

/** Reads the stdout of a sending process. */
export function sendStream(sender: StreamingProcess): CheckpointStream {
  const meter = createMeter(Number.POSITIVE_INFINITY, () => meter.transform.destroy(idle()))
  // The digest reports every error; a reader that went away must not end the agent.
  meter.transform.on('error', () => {})
  const digest = (async (): Promise<StreamDigest> => {
    try {
      await pipeline(sender.stdout, meter.transform)
      await sender.ended
      return meter.digest()
    } catch (error) {
      sender.kill()
      throw await causeOf(sender, error)
    } finally {
      meter.close()
    }
  })()
  digest.catch((error: Error) => meter.transform.destroy(error))
  return { stream: meter.transform, digest }
}

/** Writes all input through a check to a receiving process and waits for its end. */
export async function receiveStream(
  receiver: StreamingProcess,
  input: Readable,
  maxBytes: number,
  check: Transform,
): Promise<StreamDigest> {
  const meter = createMeter(maxBytes, () => {
    input.destroy(idle())
    receiver.kill()
  })
  try {
    receiver.stdout.resume()
    await pipeline(input, meter.transform, check, receiver.stdin)
    await receiver.ended
    return meter.digest()
  } catch (error) {
    receiver.kill()
    throw await causeOf(receiver, error)
  } finally {
    meter.close()
  }
}

/** The error of the process if it ended first: writing to it then fails with EPIPE. */
async function causeOf(process: StreamingProcess, error: unknown): Promise<PoolError> {
  const own = await Promise.race([errorOf(process.ended), delay(KILL_MS, undefined, { ref: false })])
  if (error instanceof PoolError) return error
  if (own instanceof PoolError && (isBrokenPipe(error) || own.fault === 'unsupported')) return own
  return new PoolError('interrupted', `The stream broke: ${error instanceof Error ? error.message : error}`)
}

const isBrokenPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE'

async function errorOf(promise: Promise<void>): Promise<unknown> {
  try {
    return await promise
  } catch (error) {
    return error
  }
}
