// The binary frames of streams: channel (1 byte), stream number (4 bytes, big endian), payload.

import { decodeOpen, endShape, STREAM_ERRORS, STREAM_HEADER_BYTES } from '@holdfast/contract'
import type { StreamEnd } from '../../ports/node-streams.ts'

export function frameOf(channel: number, stream: number, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(STREAM_HEADER_BYTES + payload.length)
  frame[0] = channel
  frame.writeUInt32BE(stream, 1)
  payload.copy(frame, STREAM_HEADER_BYTES)
  return frame
}

export const frameBytes = (payload: Buffer): number => STREAM_HEADER_BYTES + payload.length

/** Reads an `end` message. An unknown error text becomes `closed`, so that no client receives texts of the node. */
export function readEnd(message: unknown): StreamEnd {
  const { exitCode, error } = decodeOpen(endShape, message)
  const known = STREAM_ERRORS.find((each) => each === error)
  if (error !== undefined) return { error: known ?? 'closed' }
  return exitCode === undefined ? {} : { exitCode }
}
