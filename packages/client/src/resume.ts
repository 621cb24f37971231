// Exponential backoff for resuming a broken stream, with a limit of attempts.

import type { Connection } from './connection.ts'
import type { Failure } from './result.ts'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/** Consecutive failures without any data, which take about half a minute. */
export const MAX_FAILURES = 10

/** Returns early when the signal aborts; the caller checks the signal next. */
export async function backOff(
  failures: number,
  { runtime }: Pick<Connection, 'runtime'>,
  signal = new AbortController().signal,
): Promise<void> {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
  await runtime.wait(pause, signal).catch(() => {})
}

/** Rejections are final; an unavailable server may come back. */
export function isFinal(failure: Failure, failures: number): boolean {
  if (failures >= MAX_FAILURES || failure.kind === 'interrupted') return true
  // A successful response that is not a stream, such as a login page, is final too.
  if (failure.kind === 'unexpected' && failure.status < 300) return true
  return failure.kind === 'rejected' && failure.status < 429
}
