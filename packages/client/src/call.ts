// A call: attempts until an answer counts, repeated only where that is safe, all under one deadline.

import type { Shape } from '@holdfast/contract'
import type { Connection } from './connection.ts'
import { readAnswer } from './read-answer.ts'
import type { ApiCall } from './request.ts'
import { failed, type Result } from './result.ts'
import { type Attempt, send, silenceOf } from './send.ts'

const MOST_ATTEMPTS = 5
const FIRST_PAUSE_MS = 200
const TOO_MANY = 429
/** The server, or a proxy before it, is away for a moment. */
const AWAY = new Set([502, 503, 504])

type Answered = { readonly kind: 'answer'; readonly response: Response; readonly text: string }
type Tried = Answered | Exclude<Attempt, { kind: 'answer' }>

export async function callApi<T>(connection: Connection, call: ApiCall, shape: Shape<T>): Promise<Result<T>> {
  const deadline = AbortSignal.timeout(connection.deadlineMs)
  for (let attempt = 1; ; attempt += 1) {
    const tried = await tryOnce(connection, call, deadline)
    const pause = attempt < MOST_ATTEMPTS ? pauseBefore(call, tried, attempt) : undefined
    if (pause === undefined) return conclude(connection, tried, shape)
    const signal = call.signal === undefined ? deadline : AbortSignal.any([call.signal, deadline])
    const rested = await connection.world.wait(pause, signal).then(
      () => true,
      () => false,
    )
    // Time ran out while waiting: what was heard last is the truest that can be said.
    if (!rested) return call.signal?.aborted === true ? INTERRUPTED : conclude(connection, tried, shape)
  }
}

const INTERRUPTED = failed({ kind: 'interrupted' })

async function tryOnce(connection: Connection, call: ApiCall, deadline: AbortSignal): Promise<Tried> {
  const attempt = await send(connection, call, deadline)
  if (attempt.kind !== 'answer') return attempt
  try {
    return { ...attempt, text: await attempt.response.text() }
  } catch (error) {
    return silenceOf(call, deadline, error)
  }
}

/** How long to wait before the next attempt; undefined: this was the last. */
function pauseBefore({ repeat }: ApiCall, tried: Tried, attempt: number): number | undefined {
  const usual = FIRST_PAUSE_MS * 2 ** (attempt - 1)
  if (tried.kind === 'silence') return repeat === 'safe' && !tried.lasting ? usual : undefined
  if (tried.kind !== 'answer') return undefined
  const { status, headers } = tried.response
  const again = status === TOO_MANY || (repeat === 'safe' && AWAY.has(status))
  return again ? Math.max(usual, secondsOf(headers.get('retry-after')) * 1000) : undefined
}

const secondsOf = (text: string | null): number =>
  text !== null && /^\d{1,5}$/.test(text) ? Number(text) : 0

function conclude<T>({ baseUrl, deadlineMs }: Connection, tried: Tried, shape: Shape<T>): Result<T> {
  switch (tried.kind) {
    case 'answer':
      return readAnswer(tried.response, tried.text, shape)
    case 'interrupted':
      return INTERRUPTED
    case 'late':
      return failed({ kind: 'unreachable', reason: `${baseUrl}: no answer within ${deadlineMs / 1000} s` })
    case 'silence':
      return failed({ kind: 'unreachable', reason: `${baseUrl}: ${tried.reason}` })
  }
}
