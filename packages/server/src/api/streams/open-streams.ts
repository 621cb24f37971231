// Answers that go on: how many a token may have open, and when the server ends them. SAFETY 2, row 21. A token that counts
// no more reads no more, however long ago its stream began.

import type { TokenId } from '@holdfast/contract'
import type { StreamedAnswer } from '../endpoint.ts'
import { createTokenPlaces } from './token-limit.ts'

/** For each token and server replica. */
export const STREAMS_PER_TOKEN = 16
/** How often it is asked whether the token of an open stream still counts. */
const RECHECK_MS = 5_000
/** So long may a reader take to read the last of a stream that was ended. */
const LINGER_MS = 1_000

/** Held from before the handler runs until the stream closes, so that no number of requests at once exceeds the limit. */
export interface StreamPlace {
  follow(answer: StreamedAnswer, stillCounts: () => Promise<boolean>): void
  release(): void
}

export interface OpenStreams {
  /** Undefined where the token has all that it may have. */
  take(token: TokenId): StreamPlace | undefined
  endAll(): Promise<void>
}

interface Followed {
  readonly answer: StreamedAnswer
  stillCounts(): Promise<boolean>
}

export function createOpenStreams(): OpenStreams {
  const places = createTokenPlaces(STREAMS_PER_TOKEN)
  const followed = new Set<Followed>()
  const timer = setInterval(() => void endOutdated(followed), RECHECK_MS).unref()
  return {
    take(token) {
      const release = places.take(token)
      return release && createPlace(followed, release)
    },
    async endAll() {
      clearInterval(timer)
      await Promise.all([...followed].map(({ answer }) => endInOrder(answer)))
    },
  }
}

function createPlace(followed: Set<Followed>, release: () => void): StreamPlace {
  return {
    release,
    follow(answer, stillCounts) {
      const entry = { answer, stillCounts }
      followed.add(entry)
      answer.stream.once('close', () => {
        followed.delete(entry)
        release()
      })
    },
  }
}

/** A store that cannot be asked says nothing about a token. */
async function endOutdated(followed: ReadonlySet<Followed>): Promise<void> {
  for (const { answer, stillCounts } of [...followed]) {
    if (!(await stillCounts().catch(() => true))) void endInOrder(answer)
  }
}

function endInOrder({ stream, end }: StreamedAnswer): Promise<void> {
  if (stream.closed) return Promise.resolve()
  return new Promise((resolve) => {
    const impatient = setTimeout(() => stream.destroy(), LINGER_MS)
    stream.once('close', () => {
      clearTimeout(impatient)
      resolve()
    })
    end()
  })
}
