// Splits the engine's combined output stream into stdout and stderr. Each frame has a header: the channel (1 byte), three
// zero bytes, and the payload length (4 bytes, big endian).

import type { OutputChannel } from '../../ports/engine.ts'

const HEADER_BYTES = 8
const STDERR = 2

export interface Parts {
  /** Receives a part of a frame. `bytes` is a view of the input chunk; `last` is true for the final part of the frame. */
  part(channel: OutputChannel, bytes: Buffer, last: boolean): void
}

/** Returns a function that accepts the chunks of the stream in order. Chunk borders may be anywhere inside a frame. */
export function createDemultiplexer(parts: Parts): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES)
  let headerBytes = 0
  let left = 0
  let channel: OutputChannel = 'stdout'
  const readHeader = (chunk: Buffer, at: number): number => {
    const taken = Math.min(HEADER_BYTES - headerBytes, chunk.length - at)
    chunk.copy(header, headerBytes, at, at + taken)
    headerBytes += taken
    if (headerBytes < HEADER_BYTES) return at + taken
    channel = header[0] === STDERR ? 'stderr' : 'stdout'
    left = header.readUInt32BE(4)
    if (left === 0) headerBytes = 0
    return at + taken
  }
  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (headerBytes < HEADER_BYTES) at = readHeader(chunk, at)
      else {
        const taken = Math.min(left, chunk.length - at)
        left -= taken
        if (left === 0) headerBytes = 0
        parts.part(channel, chunk.subarray(at, at + taken), left === 0)
        at += taken
      }
    }
  }
}
