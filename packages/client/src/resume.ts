// How a stream that goes on is taken up again after it broke: soon, then less often, and not for ever.

import type { Connection } from './connection.ts'
import type { Failure } from './result.ts'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/** In a row, with nothing heard between them: about half a minute. */
export const MAX_FAILURES = 10

/** Over at once when the signal fires: whoever rests looks at it next. */
export async function backOff(
  failures: number,
  { runtime }: Pick<Connection, 'runtime'>,
  signal = new AbortController().signal,
): Promise<void> {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
  await runtime.wait(pause, signal).catch(() => {})
}

/** A "no" stays a no; a server that is away may come back. */
export function isFinal(failure: Failure, failures: number): boolean {
  if (failures >= MAX_FAILURES || failure.kind === 'interrupted') return true
  // A page that came instead of the stream, with a status that says that all is well.
  if (failure.kind === 'unexpected' && failure.status < 300) return true
  return failure.kind === 'rejected' && failure.status < 429
}
