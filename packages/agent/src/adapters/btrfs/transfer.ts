// Moves the bytes of a checkpoint between a btrfs process and a stream, and computes their digest. A process whose bytes
// do not move is killed: a full seed may take days, but it always moves.

import { createHash } from 'node:crypto'
import { Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type CheckpointStream, PoolError, type StreamDigest } from '../../ports/volume-pool.ts'
import type { StreamCheck } from './check-stream.ts'
import type { StreamingProcess } from './commands.ts'

const IDLE_MS = 60_000
/** A killed process can still wait for the disk. */
const KILL_MS = 10_000
/** Chunks of a sending process that are read ahead. */
const MAX_CHUNKS = 4

interface Meter {
  /** Counts a chunk. Throws if the stream is longer than allowed. */
  add(chunk: Buffer): void
  digest(): StreamDigest
  /** Ends the watch of idle time. */
  close(): void
}

function createMeter(maxBytes: number, onIdle: () => void): Meter {
  const hash = createHash('sha256')
  let bytes = 0
  const timer = setTimeout(onIdle, IDLE_MS)
  return {
    add(chunk) {
      timer.refresh()
      bytes += chunk.length
      if (bytes > maxBytes) throw new PoolError('full', `The stream is longer than ${maxBytes} bytes.`)
      hash.update(chunk)
    },
    digest: () => ({ bytes, sha256: hash.digest('hex') }),
    close: () => clearTimeout(timer),
  }
}

const idle = (): PoolError => new PoolError('timeout', `No bytes moved for ${IDLE_MS / 1000} s.`)

/** Reads the stdout of a sending process. */
export function sendStream(sender: StreamingProcess): CheckpointStream {
  const meter = createMeter(Number.POSITIVE_INFINITY, () => stream.destroy(idle()))
  const stream = new Transform({
    // One read then returns one chunk, instead of a copy of several.
    readableObjectMode: true,
    readableHighWaterMark: MAX_CHUNKS,
    transform(chunk: Buffer, _encoding, done) {
      meter.add(chunk)
      done(null, chunk)
    },
  })
  // The digest reports every error; a reader that went away must not end the agent.
  stream.on('error', () => {})
  const digest = (async (): Promise<StreamDigest> => {
    try {
      await pipeline(sender.stdout, stream)
      await sender.ended
      return meter.digest()
    } catch (error) {
      sender.kill()
      throw await causeOf(sender, error)
    } finally {
      meter.close()
    }
  })()
  digest.catch((error: Error) => stream.destroy(error))
  return { stream, digest }
}

/** Writes all input through a check to a receiving process and waits for its end. */
export async function receiveStream(
  receiver: StreamingProcess,
  input: AsyncIterable<Buffer>,
  maxBytes: number,
  check: StreamCheck,
): Promise<StreamDigest> {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>()
  const meter = createMeter(maxBytes, () => stop(idle()))
  receiver.ended.catch(stop)
  try {
    receiver.stdout.resume()
    await Promise.race([writeAll(receiver.stdin, input, meter, check), stopped])
    await receiver.ended
    return meter.digest()
  } catch (error) {
    receiver.kill()
    throw await causeOf(receiver, error)
  } finally {
    meter.close()
  }
}

/** Writes each chunk before it requests the next one, so that the memory of a chunk can be used again. */
async function writeAll(
  output: Writable,
  input: AsyncIterable<Buffer>,
  meter: Meter,
  check: StreamCheck,
): Promise<void> {
  // Each write reports its own error.
  output.on('error', () => {})
  for await (const chunk of input) {
    meter.add(chunk)
    const checked = await check.add(chunk)
    if (checked.length === 0) continue
    await new Promise<void>((resolve, reject) => {
      output.write(checked, (error) => (error ? reject(error) : resolve()))
    })
  }
  check.end()
  output.end()
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
