// Frames on a connection between two agents: one byte for the kind, four for the length, then the payload. Each kind has a
// limit, which is checked before the payload is read.

import type { Readable, Writable } from 'node:stream'
import { createChunkQueue } from './chunk-queue.ts'
import { PeerError } from './peer-error.ts'

const KIB = 1024
const KINDS = {
  header: { code: 1, maxBytes: 64 * KIB },
  data: { code: 2, maxBytes: 1024 * KIB },
  trailer: { code: 3, maxBytes: KIB },
  answer: { code: 4, maxBytes: 256 * KIB },
  set: { code: 5, maxBytes: 1024 * KIB },
} as const
export type FrameKind = keyof typeof KINDS

export interface Frame {
  readonly kind: FrameKind
  readonly payload: Buffer
}

const HEAD_BYTES = 5

export interface FrameReader {
  /**
   * Reads the next frame, which must be of one of the kinds. Rejects at the end of the stream. The payload of a `data` frame
   * is valid until the next call.
   */
  next(...kinds: readonly FrameKind[]): Promise<Frame>
  /** Discards everything up to the end of the stream. */
  drain(): Promise<void>
}

export function createFrameReader(input: Readable): FrameReader {
  const queue = createChunkQueue(input)
  const head = Buffer.alloc(HEAD_BYTES)
  let data = Buffer.alloc(0)
  function payloadOf(kind: FrameKind, length: number): Buffer {
    if (kind !== 'data') return Buffer.alloc(length)
    if (data.length < length) data = Buffer.allocUnsafeSlow(length)
    return data.subarray(0, length)
  }
  return {
    async next(...kinds) {
      await queue.fill(head)
      const kind = kinds.find((each) => KINDS[each].code === head.readUInt8(0))
      const length = head.readUInt32BE(1)
      if (kind === undefined || length > KINDS[kind].maxBytes)
        throw new PeerError('malformed', `Unexpected frame ${head.toString('hex')}.`)
      const payload = payloadOf(kind, length)
      await queue.fill(payload)
      return { kind, payload }
    },
    drain: queue.drain,
  }
}

/** Writes one frame. When it resolves, nothing refers to the payload. */
export async function writeFrame(output: Writable, kind: FrameKind, payload: Buffer): Promise<void> {
  const { code, maxBytes } = KINDS[kind]
  if (payload.length > maxBytes) throw new RangeError(`A frame of ${payload.length} bytes is too long.`)
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt8(code, 0)
  head.writeUInt32BE(payload.length, 1)
  const error = await new Promise<Error | null | undefined>((resolve) => {
    output.cork()
    output.write(head)
    output.write(payload, resolve)
    output.uncork()
  })
  if (error || output.destroyed)
    throw new PeerError('cut', `The connection was closed: ${error?.message ?? ''}`)
}
