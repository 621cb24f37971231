// Streams quarantined data of a volume as a tar archive. No byte is dropped: a slow reader stops the source. Only an archive
// that was read to its end without a fault ends with exit code 0.

import { type Open, STREAM_CHANNELS } from '@holdfast/contract'
import type { CheckpointStream } from '../ports/volume-pool.ts'
import type { Divergences } from '../storage/divergences.ts'
import type { Outgoing } from './outgoing.ts'
import type { NodeStream, StreamEnd } from './stream.ts'

const FULL_BYTES = 512 * 1024
const LOW_BYTES = 128 * 1024

/** Undefined if the pool has no such data. */
export async function openDivergenceStream(
  divergences: Pick<Divergences, 'read'>,
  { divergence }: Pick<Open, 'divergence'>,
  outgoing: Outgoing,
  onEnd: (end: StreamEnd) => void,
): Promise<NodeStream | undefined> {
  const source = divergence && (await divergences.read(divergence))
  return source && sendArchive(source, outgoing, onEnd)
}

function sendArchive(
  { stream, digest }: CheckpointStream,
  outgoing: Outgoing,
  onEnd: (end: StreamEnd) => void,
): NodeStream {
  let isPaused = false
  let isEnded = false
  const end = (how: StreamEnd): void => {
    if (!isEnded) onEnd(how)
    isEnded = true
  }
  const fail = (): void => end({ error: 'data_unreadable' })
  stream.on('data', (chunk: Buffer) => {
    outgoing.push(STREAM_CHANNELS.stdout, chunk)
    if (isPaused || outgoing.queuedBytes < FULL_BYTES) return
    isPaused = true
    stream.pause()
  })
  // The digest is known before the last chunks are read, so the end needs both.
  stream.once('end', () => void digest.then(() => end({ exitCode: 0 }), fail))
  digest.catch(fail)
  return {
    onRoom() {
      if (!isPaused || outgoing.queuedBytes > LOW_BYTES) return
      isPaused = false
      stream.resume()
    },
    input: (_channel, _payload, onConsumed) => onConsumed(),
    close() {
      isEnded = true
      stream.destroy()
    },
  }
}
