// Received bytes in the order of their arrival. A few chunks are read ahead, and the memory of a chunk is released as soon
// as its bytes were copied: a stream of gigabytes would otherwise keep the garbage collector busy.

import type { Readable } from 'node:stream'
import { PeerError } from './peer-error.ts'

const MAX_QUEUED_BYTES = 256 * 1024

export interface ChunkQueue {
  /** Fills the target with the next bytes. Rejects if the input ends before. */
  fill(target: Buffer): Promise<void>
  /** Discards everything up to the end of the input. */
  drain(): Promise<void>
}

export function createChunkQueue(input: Readable): ChunkQueue {
  let chunks: Buffer[] = []
  /** Bytes of the oldest chunk that were copied. */
  let consumed = 0
  let queued = 0
  let isDraining = false
  let end: PeerError | undefined
  let wake = (): void => {}
  input.on('data', (chunk: Buffer) => {
    if (isDraining) return
    chunks.push(chunk)
    queued += chunk.length
    if (queued >= MAX_QUEUED_BYTES) input.pause()
    wake()
  })
  const finish = (error: PeerError) => (): void => {
    end ??= error
    wake()
  }
  input.once('end', finish(new PeerError('cut', 'The connection ended early.')))
  input.once('close', finish(new PeerError('cut', 'The connection was closed.')))
  input.once('error', (error: Error) =>
    finish(error instanceof PeerError ? error : new PeerError('cut', `The connection broke: ${error}`))(),
  )
  const changed = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
    })

  /** Copies bytes of the oldest chunk to the target; returns how many. */
  function copyOldest(oldest: Buffer, target: Buffer): number {
    const count = oldest.copy(target, 0, consumed)
    queued -= count
    consumed += count
    if (consumed === oldest.length) {
      chunks.shift()
      consumed = 0
      releaseMemory(oldest)
    }
    if (queued < MAX_QUEUED_BYTES && input.isPaused()) input.resume()
    return count
  }
  return {
    async fill(target) {
      for (let filled = 0; filled < target.length; ) {
        const [oldest] = chunks
        if (oldest !== undefined) filled += copyOldest(oldest, target.subarray(filled))
        else if (end !== undefined) throw end
        else await changed()
      }
    },
    async drain() {
      isDraining = true
      chunks = []
      input.resume()
      while (end === undefined) await changed()
    },
  }
}

/** Frees the memory of a chunk that nothing refers to, without waiting for the garbage collector. */
export function releaseMemory({ buffer, byteLength }: Buffer): void {
  // A small buffer shares its memory with others.
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0)
}
