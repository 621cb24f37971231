// Calls an endpoint. Calls that are safe to repeat are retried with backoff; one deadline covers all attempts.

import type { Shape } from '@holdfast/contract'
import type { Connection } from './connection.ts'
import { readResponse } from './read-response.ts'
import type { ApiCall } from './request.ts'
import { failed, type Result } from './result.ts'
import { type Attempt, failureOf, send } from './send.ts'

const MAX_ATTEMPTS = 5
const FIRST_PAUSE_MS = 200
const TOO_MANY = 429
/** Statuses that mean that the server, or a proxy in front of it, is temporarily unavailable. */
const UNAVAILABLE = new Set([502, 503, 504])

type Responded = { readonly kind: 'answer'; readonly response: Response; readonly text: string }
type AttemptOutcome = Responded | Exclude<Attempt, { kind: 'answer' }>

export async function callApi<T>(connection: Connection, call: ApiCall, shape: Shape<T>): Promise<Result<T>> {
  // AbortSignal.timeout would keep the response in memory until the deadline, long after the call has ended.
  const overdue = new AbortController()
  const timer = setTimeout(() => overdue.abort(), connection.deadlineMs)
  try {
    return await callWithin(connection, call, shape, overdue.signal)
  } finally {
    clearTimeout(timer)
  }
}

async function callWithin<T>(
  connection: Connection,
  call: ApiCall,
  shape: Shape<T>,
  deadline: AbortSignal,
): Promise<Result<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(connection, call, deadline)
    const pause = attempt < MAX_ATTEMPTS ? backoffMs(call, outcome, attempt) : undefined
    if (pause === undefined) return conclude(connection, outcome, shape)
    const signal = call.signal === undefined ? deadline : AbortSignal.any([call.signal, deadline])
    const waited = await connection.runtime.wait(pause, signal).then(
      () => true,
      () => false,
    )
    // The deadline passed during the backoff, so the outcome of the last attempt is returned.
    if (!waited) return call.signal?.aborted === true ? INTERRUPTED : conclude(connection, outcome, shape)
  }
}

const INTERRUPTED = failed({ kind: 'interrupted' })

async function tryOnce(
  connection: Connection,
  call: ApiCall,
  deadline: AbortSignal,
): Promise<AttemptOutcome> {
  const attempt = await send(connection, call, deadline)
  if (attempt.kind !== 'answer') return attempt
  try {
    return { ...attempt, text: await attempt.response.text() }
  } catch (error) {
    return failureOf(call, deadline, error)
  }
}

/** The backoff before the next attempt; undefined if the call must not be retried. */
function backoffMs({ repeat }: ApiCall, outcome: AttemptOutcome, attempt: number): number | undefined {
  const usual = FIRST_PAUSE_MS * 2 ** (attempt - 1)
  if (outcome.kind === 'network-error') return repeat === 'safe' && !outcome.permanent ? usual : undefined
  if (outcome.kind !== 'answer') return undefined
  const { status, headers } = outcome.response
  const again = status === TOO_MANY || (repeat === 'safe' && UNAVAILABLE.has(status))
  return again ? Math.max(usual, secondsOf(headers.get('retry-after')) * 1000) : undefined
}

const secondsOf = (text: string | null): number =>
  text !== null && /^\d{1,5}$/.test(text) ? Number(text) : 0

function conclude<T>(
  { baseUrl, deadlineMs }: Connection,
  outcome: AttemptOutcome,
  shape: Shape<T>,
): Result<T> {
  switch (outcome.kind) {
    case 'answer':
      return readResponse(outcome.response, outcome.text, shape)
    case 'interrupted':
      return INTERRUPTED
    case 'timeout':
      return failed({ kind: 'unreachable', reason: `${baseUrl}: no response within ${deadlineMs / 1000} s` })
    case 'network-error':
      return failed({ kind: 'unreachable', reason: `${baseUrl}: ${outcome.reason}` })
  }
}
