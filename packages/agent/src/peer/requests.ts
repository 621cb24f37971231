// The requests of a primary to the agent of a replica. A request that fails has an unknown outcome: the next `confirm`
// reads which checkpoints the replica has.

import { setTimeout as delay } from 'node:timers/promises'
import type { Peer } from '@holdfast/contract'
import type { CheckpointStream } from '../ports/volume-pool.ts'
import { releaseMemory } from './chunk-queue.ts'
import type { PeerConnection } from './connection.ts'
import type { Answer, ConfirmItem, CopyRequest, PeerStamp } from './messages.ts'
import { PeerError } from './peer-error.ts'

const CONFIRM_MS = 20_000
const READY_MS = 60_000
/** The replica syncs its file system before it acknowledges, which takes long on a busy disk. */
const STORED_MS = 300_000

export type ConfirmedVolume = NonNullable<Answer['volumes']>[number]
export type Copied =
  | { readonly kind: 'stored' | 'held' }
  | { readonly kind: 'refused'; readonly reason: string }

export interface PeerRequests {
  /** `at`: the replicas that have the newest checkpoint of an unchanged volume have everything written before. */
  confirm(peer: Peer, volumes: readonly ConfirmItem[], at?: PeerStamp): Promise<readonly ConfirmedVolume[]>
  /** Sends a checkpoint; the stream is opened only after the replica has agreed. */
  copy(peer: Peer, request: CopyRequest, open: () => CheckpointStream): Promise<Copied>
  /** Ends all requests. */
  close(): void
}

/** Waits until the given number of bytes may be sent. */
export type Pace = (bytes: number) => Promise<void>

/** A pace of bytes per second for all streams of this node together. */
export function createPace(bytesPerSecond: number, monotonicMs: () => number): Pace {
  let freeAtMs = 0
  return async (bytes) => {
    const now = monotonicMs()
    const waitMs = Math.max(freeAtMs, now) - now
    freeAtMs = now + waitMs + (bytes * 1000) / bytesPerSecond
    if (waitMs > 0) await delay(waitMs)
  }
}

export function createPeerRequests(dial: (peer: Peer) => Promise<PeerConnection>, pace: Pace): PeerRequests {
  const connections = new Set<PeerConnection>()
  let isClosed = false
  async function over<T>(peer: Peer, work: (connection: PeerConnection) => Promise<T>): Promise<T> {
    const connection = await dial(peer)
    connections.add(connection)
    try {
      if (isClosed) throw new PeerError('cut', 'The agent stops.')
      return await work(connection)
    } finally {
      connections.delete(connection)
      connection.close()
    }
  }
  return {
    confirm: (peer, volumes, at) =>
      over(peer, async (connection) => {
        await connection.request({ request: 'confirm', volumes, ...(at && { at }) })
        return (await connection.readAnswer(CONFIRM_MS)).volumes ?? []
      }),
    copy: (peer, request, open) =>
      over(peer, async (connection) => {
        await connection.request(request)
        const first = await connection.readAnswer(READY_MS)
        if (first.answer !== 'ready') return copied(first)
        return copied(await sendStream(connection, open(), pace))
      }),
    close() {
      isClosed = true
      for (const connection of connections) connection.close()
    },
  }
}

/** Sends all bytes and the trailer. An answer that arrives earlier, such as that the pool is full, ends the stream. */
async function sendStream(
  connection: PeerConnection,
  { stream, digest }: CheckpointStream,
  pace: Pace,
): Promise<Answer> {
  // The stream itself reports the error to its reader.
  digest.catch(() => {})
  let early: Answer | undefined
  const answer = connection.readAnswer().then((received) => {
    early = received
    return received
  })
  answer.catch(() => {})
  try {
    for await (const chunk of stream) {
      if (early !== undefined) return early
      await pace(chunk.length)
      await connection.sendBytes(chunk)
      releaseMemory(chunk)
    }
    await connection.sendTrailer(await digest)
    connection.allowSilence(STORED_MS)
    return await answer
  } catch (error) {
    // An answer that crossed the last bytes says more than the broken connection.
    return early ?? Promise.reject(error)
  } finally {
    stream.destroy()
  }
}

function copied({ answer, reason = 'unknown' }: Answer): Copied {
  if (answer === 'stored' || answer === 'held') return { kind: answer }
  if (answer === 'refused') return { kind: 'refused', reason }
  throw new PeerError('malformed', `The answer ${answer} does not belong to a copy.`)
}
