// A connection between two agents after both have proved their keys. It carries one request: a header, perhaps bytes with
// a trailer, and answers; or renewals of promises one after another. Every wait has a deadline, after which the connection is destroyed.

import type { TLSSocket } from 'node:tls'
import type { StreamDigest } from '../ports/volume-pool.ts'
import { createFrameReader, writeFrame } from './frames.ts'
import {
  type Answer,
  type PeerRequest,
  type RenewItem,
  readAnswer,
  readRenewSet,
  readRequest,
  readTrailer,
} from './messages.ts'
import { PeerError } from './peer-error.ts'

/** A connection on which no bytes move for this long is closed. */
const IDLE_MS = 60_000
/**
 * After this much silence the kernel asks the other machine every second whether it still lives, and ends the connection after ten
 * questions. A machine that loses its power sends nothing that would end the long wait for its last answer.
 */
const KEEP_ALIVE_MS = 10_000
/** A connection that is closed while bytes arrive would lose the answer, so they are read for this long. */
const FINISH_MS = 5_000
/** Longest frame of bytes; btrfs writes at most this many at once into a pipe. */
const DATA_BYTES = 256 * 1024

export interface PeerConnection {
  request(message: PeerRequest): Promise<void>
  readRequest(deadlineMs: number): Promise<PeerRequest>
  /** The set of volumes after a request `renew`. */
  sendSet(items: readonly RenewItem[]): Promise<void>
  readSet(deadlineMs: number): Promise<readonly RenewItem[]>
  answer(message: Answer): Promise<void>
  /** Without a deadline, only a silent connection ends the wait. */
  readAnswer(deadlineMs?: number): Promise<Answer>
  /** Lets the other side be silent for this long from now on. */
  allowSilence(ms: number): void
  sendBytes(chunk: Buffer): Promise<void>
  sendTrailer(digest: StreamDigest): Promise<void>
  /**
   * The bytes up to the trailer, and the trailer, which is there after the last byte. Each chunk is valid until the next one
   * is requested.
   */
  readBytes(): { readonly chunks: AsyncIterable<Buffer>; digest(): Promise<StreamDigest> }
  /** Sends what was written and waits until the other side has closed, so that it can read the last answer. */
  finish(): Promise<void>
  close(): void
}

export function createPeerConnection(socket: TLSSocket): PeerConnection {
  const frames = createFrameReader(socket)
  // Readers and writers of the socket report its errors.
  socket.on('error', () => {})
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  socket.setTimeout(IDLE_MS, () => socket.destroy(new PeerError('timeout', 'No bytes moved in time.')))
  const send = (kind: 'header' | 'answer' | 'trailer' | 'set', message: object): Promise<void> =>
    writeFrame(socket, kind, Buffer.from(JSON.stringify(message)))
  async function within<T>(deadlineMs: number | undefined, work: Promise<T>): Promise<T> {
    if (deadlineMs === undefined) return work
    const late = new PeerError('timeout', `The other node did not answer within ${deadlineMs} ms.`)
    const timer = setTimeout(() => socket.destroy(late), deadlineMs)
    try {
      return await work
    } finally {
      clearTimeout(timer)
    }
  }
  async function nextText(kind: 'header' | 'answer' | 'set'): Promise<string> {
    return (await frames.next(kind)).payload.toString('utf8')
  }
  return {
    request: (message) => send('header', message),
    readRequest: async (deadlineMs) => readRequest(await within(deadlineMs, nextText('header'))),
    sendSet: (items) => send('set', items),
    readSet: async (deadlineMs) => readRenewSet(await within(deadlineMs, nextText('set'))),
    answer: (message) => send('answer', message),
    readAnswer: async (deadlineMs) => readAnswer(await within(deadlineMs, nextText('answer'))),
    allowSilence: (ms) => void socket.setTimeout(ms),
    async sendBytes(chunk) {
      for (let at = 0; at < chunk.length; at += DATA_BYTES)
        await writeFrame(socket, 'data', chunk.subarray(at, at + DATA_BYTES))
    },
    sendTrailer: (digest) => send('trailer', digest),
    readBytes() {
      const trailer = Promise.withResolvers<StreamDigest>()
      trailer.promise.catch(() => {})
      async function* bytes(): AsyncGenerator<Buffer> {
        try {
          let frame = await frames.next('data', 'trailer')
          for (; frame.kind === 'data'; frame = await frames.next('data', 'trailer')) yield frame.payload
          trailer.resolve(readTrailer(frame.payload.toString('utf8')))
        } catch (error) {
          trailer.reject(error)
          throw error
        }
      }
      return { chunks: bytes(), digest: () => trailer.promise }
    },
    async finish() {
      const timer = setTimeout(() => socket.destroy(), FINISH_MS)
      try {
        socket.end()
        await frames.drain()
      } catch {
        // The other side is gone already.
      } finally {
        clearTimeout(timer)
        socket.destroy()
      }
    },
    close: () => void socket.destroy(),
  }
}
