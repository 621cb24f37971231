// Frames on a connection between two agents: one byte for the kind, four for the length, then the payload. Each kind has a
// limit, which is checked before the payload is read.

import type { Readable, Writable } from 'node:stream'
import { PeerError } from './peer-error.ts'

const KIB = 1024
const KINDS = {
  header: { code: 1, maxBytes: 64 * KIB },
  data: { code: 2, maxBytes: 1024 * KIB },
  trailer: { code: 3, maxBytes: KIB },
  answer: { code: 4, maxBytes: 256 * KIB },
} as const
export type FrameKind = keyof typeof KINDS

export interface Frame {
  readonly kind: FrameKind
  readonly payload: Buffer
}

const HEAD_BYTES = 5

export interface FrameReader {
  /** Reads the next frame, which must be of one of the kinds. Rejects at the end of the stream. */
  next(...kinds: readonly FrameKind[]): Promise<Frame>
  /** Discards everything up to the end of the stream. */
  drain(): Promise<void>
}

export function createFrameReader(input: Readable): FrameReader {
  const chunks: AsyncIterator<Buffer> = input[Symbol.asyncIterator]()
  let buffered: Buffer[] = []
  let available = 0

  async function read(bytes: number): Promise<Buffer> {
    while (available < bytes) {
      const { value, done } = await nextChunk(chunks)
      if (done === true) throw new PeerError('cut', 'The connection ended early.')
      buffered.push(value)
      available += value.length
    }
    const whole = buffered.length === 1 ? (buffered[0] ?? Buffer.alloc(0)) : Buffer.concat(buffered)
    buffered = [whole.subarray(bytes)]
    available = whole.length - bytes
    return whole.subarray(0, bytes)
  }
  return {
    async next(...kinds) {
      const head = await read(HEAD_BYTES)
      const kind = kinds.find((each) => KINDS[each].code === head.readUInt8(0))
      const length = head.readUInt32BE(1)
      if (kind === undefined || length > KINDS[kind].maxBytes)
        throw new PeerError('malformed', `Unexpected frame ${head.toString('hex')}.`)
      return { kind, payload: await read(length) }
    },
    async drain() {
      buffered = []
      available = 0
      while ((await nextChunk(chunks)).done !== true);
    },
  }
}

async function nextChunk(chunks: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> {
  try {
    return await chunks.next()
  } catch (error) {
    throw error instanceof PeerError ? error : new PeerError('cut', `The connection broke: ${error}`)
  }
}

/** Writes one frame and waits until the connection accepts more. */
export async function writeFrame(output: Writable, kind: FrameKind, payload: Buffer): Promise<void> {
  const { code, maxBytes } = KINDS[kind]
  if (payload.length > maxBytes) throw new RangeError(`A frame of ${payload.length} bytes is too long.`)
  if (output.destroyed) throw new PeerError('cut', 'The connection is closed.')
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt8(code, 0)
  head.writeUInt32BE(payload.length, 1)
  output.cork()
  output.write(head)
  const acceptsMore = output.write(payload)
  output.uncork()
  if (!acceptsMore) await drained(output)
}

function drained(output: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => (): void => {
      output.off('drain', onDrain)
      output.off('close', onClose)
      act()
    }
    const onDrain = settle(resolve)
    const onClose = settle(() => reject(new PeerError('cut', 'The connection was closed.')))
    output.on('drain', onDrain)
    output.on('close', onClose)
  })
}
