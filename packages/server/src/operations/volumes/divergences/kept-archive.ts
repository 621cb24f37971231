// The bytes of a tar archive from a node, as a readable stream. The node may send only as many bytes as the reader has room
// for. A stream that is cut, or on which nothing moves, is destroyed with an error and never ends like a complete one.

import { Readable } from 'node:stream'
import { STREAM_CHANNELS, STREAM_HEADER_BYTES, type StreamError } from '@holdfast/contract'
import type { NodeStream, StreamEnd, StreamReader } from '../../../ports/node-streams.ts'

/** The most bytes of one archive that are in transit or buffered. */
export const WINDOW_BYTES = 256 * 1024
/** The least credit that is granted at once. */
const CREDIT_BYTES = WINDOW_BYTES / 4

export interface KeptArchive {
  readonly stream: Readable
  /** Resolves after the first bytes, or with the error if there are none. */
  readonly begun: Promise<StreamError | undefined>
}

export class ArchiveCutError extends Error {
  override readonly name = 'ArchiveCutError'
}

/** Opens an archive. `stallMs`: how long neither the node nor the reader may let the other one wait. */
export function openArchive(open: (reader: StreamReader) => NodeStream, stallMs: number): KeptArchive {
  const { promise: begun, resolve: begin } = Promise.withResolvers<StreamError | undefined>()
  /** Bytes that the node may still send. */
  let granted = 0
  let received = 0
  const progress = createProgress()
  const grant = (): void => {
    const room = WINDOW_BYTES - granted - stream.readableLength
    if (room < CREDIT_BYTES || stream.destroyed) return
    granted += room
    node.credit(room)
  }
  const cut = (why: string): void => {
    stream.destroy(new ArchiveCutError(why))
  }
  const stream = new Readable({
    highWaterMark: WINDOW_BYTES / 2,
    read: () => grant(),
    destroy(error, done) {
      clearInterval(watch)
      node.close()
      begin('closed')
      done(error)
    },
  })
  const node = open({
    data(channel, payload) {
      granted -= STREAM_HEADER_BYTES + payload.length
      if (channel === STREAM_CHANNELS.stdout && !stream.destroyed) {
        received += payload.length
        begin(undefined)
        stream.push(payload)
      }
      grant()
    },
    room() {},
    end(end) {
      begin(isComplete(end) ? undefined : (end.error ?? 'closed'))
      if (isComplete(end)) stream.push(null)
      else cut(`the node ended the archive early: ${end.error ?? 'no reason given'}`)
    },
  })
  // The node is late while it has credit and sends nothing; the reader is late while bytes wait for it.
  const watch = setInterval(() => {
    const isStalled = progress.isStalled(received + (received - stream.readableLength), stallMs)
    if (isStalled) cut(stream.readableLength > 0 ? 'the reader is too slow' : 'the node sends nothing')
  }, stallMs / 4)
  watch.unref()
  // Readers listen for the error on their own; without a reader it must not end the process.
  stream.on('error', () => {})
  grant()
  return { stream, begun }
}

const isComplete = ({ exitCode, error }: StreamEnd): boolean => exitCode === 0 && error === undefined

/** Tells whether a growing number has stayed the same for a time. */
function createProgress() {
  let last = -1
  let since = performance.now()
  return {
    isStalled(value: number, forMs: number): boolean {
      if (value !== last) since = performance.now()
      last = value
      return performance.now() - since >= forMs
    },
  }
}
