// Retries calls while etcd is unavailable, until a deadline.

import { sleep } from '../lib/sleep.ts'
import { withDeadline } from '../lib/with-deadline.ts'
import { EngineError } from '../ports/key-value.ts'

const RETRY_MS = 20

/**
 * Retries a call while etcd reports that nothing was applied. An unknown outcome is thrown at once, unless the call may
 * be repeated. There is at least one attempt, even if `until`, on the monotonic clock, has passed.
 */
export async function retryUntil<R>(
  attempt: () => Promise<R>,
  until: number,
  mode: 'once' | 'repeatable',
): Promise<R> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isTransient(error, mode) || performance.now() + RETRY_MS >= until) throw error
      await sleep(RETRY_MS)
    }
  }
}

function isTransient(error: unknown, mode: 'once' | 'repeatable'): boolean {
  if (!(error instanceof EngineError)) return false
  const away = error.reason === 'unavailable' || error.reason === 'deadline'
  return away && (mode === 'repeatable' || error.applied === 'no')
}

/** Waits for a read or for shared work; throws a deadline error when the monotonic clock reaches `until`. */
export function withEngineDeadline<R>(until: number, work: Promise<R>): Promise<R> {
  return withDeadline(until - performance.now(), work, () => {
    throw new EngineError('deadline', 'no', 'no answer in time')
  })
}
