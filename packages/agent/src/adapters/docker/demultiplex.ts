// The engine sends both outputs of a process over one connection, in frames: which output (1 byte), three that are empty,
// the length (4 bytes, big endian), then the bytes.

import type { OutputChannel } from '../../ports/engine.ts'

const HEADER_BYTES = 8
const STDERR = 2

export interface Parts {
  /** A view of the chunk; `last` with the final one of its frame. */
  part(channel: OutputChannel, bytes: Buffer, last: boolean): void
}

/** Takes the chunks in order, however they are cut. */
export function createDemultiplexer(parts: Parts): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES)
  let headed = 0
  let left = 0
  let channel: OutputChannel = 'stdout'
  const takeHeader = (chunk: Buffer, at: number): number => {
    const taken = Math.min(HEADER_BYTES - headed, chunk.length - at)
    chunk.copy(header, headed, at, at + taken)
    headed += taken
    if (headed < HEADER_BYTES) return at + taken
    channel = header[0] === STDERR ? 'stderr' : 'stdout'
    left = header.readUInt32BE(4)
    if (left === 0) headed = 0
    return at + taken
  }
  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (headed < HEADER_BYTES) at = takeHeader(chunk, at)
      else {
        const taken = Math.min(left, chunk.length - at)
        left -= taken
        if (left === 0) headed = 0
        parts.part(channel, chunk.subarray(at, at + taken), left === 0)
        at += taken
      }
    }
  }
}
