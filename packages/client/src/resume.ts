// Exponential backoff for resuming a broken stream, with a limit of attempts.

import type { Connection } from './connection.ts'
import type { Failure } from './result.ts'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/** Limit of consecutive failures without data in between; with the backoff, this many failures take half a minute. */
export const MAX_FAILURES = 10

/** Waits before a stream is resumed. Returns early when the signal aborts; the caller must then check the signal. */
export async function backOff(
  failures: number,
  { runtime }: Pick<Connection, 'runtime'>,
  signal = new AbortController().signal,
): Promise<void> {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
  await runtime.wait(pause, signal).catch(() => {})
}

/** Whether a failure ends a stream for good: rejections are final; an unavailable server may become available again. */
export function isFinal(failure: Failure, failures: number): boolean {
  if (failures >= MAX_FAILURES || failure.kind === 'interrupted') return true
  // A successful response that is not a stream, such as a login page, is final too.
  if (failure.kind === 'unexpected' && failure.status < 300) return true
  return failure.kind === 'rejected' && failure.status < 429
}
