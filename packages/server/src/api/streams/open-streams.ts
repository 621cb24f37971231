// Limits open streamed responses per token. Ends them when their token becomes invalid or the server stops.
// See docs/design/api.md#streams.

import type { TokenId } from '@holdfast/contract'
import { createKeyLimit } from '../../lib/key-limit.ts'
import type { StreamedResponse } from '../endpoint.ts'

/** Maximum number of open streams for each token on each server replica. */
export const STREAMS_PER_TOKEN = 16
/** Interval at which the tokens of open streams are checked. */
const RECHECK_MS = 5_000
/** Time that a reader has to read the rest of a stream that was ended. */
const LINGER_MS = 1_000

/** A reservation for one stream, made before the handler runs, so that concurrent requests cannot exceed the limit. */
export interface StreamSlot {
  follow(response: StreamedResponse, isTokenValid: () => Promise<boolean>): void
  release(): void
}

export interface OpenStreams {
  /** Reserves a stream for the token; returns undefined if the token already has the maximum number of streams. */
  reserve(token: TokenId): StreamSlot | undefined
  endAll(): Promise<void>
}

interface OpenStream {
  readonly response: StreamedResponse
  isTokenValid(): Promise<boolean>
}

export function createOpenStreams(): OpenStreams {
  const limit = createKeyLimit<TokenId>(STREAMS_PER_TOKEN)
  const open = new Set<OpenStream>()
  const timer = setInterval(() => void endInvalid(open), RECHECK_MS).unref()
  return {
    reserve(token) {
      const release = limit.reserve(token)
      return release && createSlot(open, release)
    },
    async endAll() {
      clearInterval(timer)
      await Promise.all([...open].map(({ response }) => endGracefully(response)))
    },
  }
}

function createSlot(open: Set<OpenStream>, release: () => void): StreamSlot {
  return {
    release,
    follow(response, isTokenValid) {
      const entry = { response, isTokenValid }
      open.add(entry)
      response.stream.once('close', () => {
        open.delete(entry)
        release()
      })
    },
  }
}

/** Ends streams with invalid tokens. Streams stay open while the store is unavailable and tokens cannot be checked. */
async function endInvalid(open: ReadonlySet<OpenStream>): Promise<void> {
  for (const { response, isTokenValid } of [...open]) {
    if (!(await isTokenValid().catch(() => true))) void endGracefully(response)
  }
}

function endGracefully({ stream, end }: StreamedResponse): Promise<void> {
  if (stream.closed) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(() => stream.destroy(), LINGER_MS)
    stream.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
    end()
  })
}
