// Trying again while the engine is away, and giving up in time.

import { EngineError } from '../ports/key-value.ts'

const RETRY_MS = 20

/**
 * Tries again while the engine says that nothing was applied. An unknown outcome is handed on at once, except where
 * asking twice changes nothing. There is one try even when `until`, on the monotonic clock, has passed.
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
      if (!isPassing(error, mode) || performance.now() + RETRY_MS >= until) throw error
      await pause(RETRY_MS)
    }
  }
}

function isPassing(error: unknown, mode: 'once' | 'repeatable'): boolean {
  if (!(error instanceof EngineError)) return false
  const away = error.reason === 'unavailable' || error.reason === 'deadline'
  return away && (mode === 'repeatable' || error.applied === 'no')
}

/** Stops waiting at `until`. Only for what may go on by itself without harm: a read, or somebody else's work. */
export async function withDeadline<R>(until: number, work: Promise<R>): Promise<R> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // Made when it is wanted: before every read an error that nobody sees would be taken down with its stack.
    const giveUp = (): void => reject(new EngineError('deadline', 'no', 'no answer in time'))
    timer = setTimeout(giveUp, Math.max(0, until - performance.now()))
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
