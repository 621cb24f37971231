// Passes one after another: over all there is at a nudge, at a time that was wished, and at the latest when the last one is
// half a minute old; and between those over the few that a nudge names, since a list of all costs the engine far more.

import { retryDelay } from './retry-backoff.ts'

const PASS_EVERY_MS = 30_000
/** Of more than so many a pass over all costs less. */
const FEW = 8

export type Scope<T> = 'all' | ReadonlySet<T>

export interface Loop<T> {
  /** Over all. */
  nudge(): void
  nudgeFor(some: Iterable<T>): void
  /** Over all; the soonest of the times that were wished since the last one over all. Infinite: never. */
  wakeIn(ms: number): void
  stop(): void
}

/** A pass that fails is made again soon, over all, then more and more seldom. */
export function createLoop<T>(
  pass: (scope: Scope<T>) => Promise<void>,
  random: () => number,
  onFailure: (error: unknown) => void,
): Loop<T> {
  let running = false
  let stopped = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let dueMs = Number.POSITIVE_INFINITY
  let next: 'all' | Set<T> = new Set()

  const nudge = (): void => {
    next = 'all'
    turn()
  }
  const wakeIn = (ms: number): void => {
    const due = performance.now() + ms
    if (stopped || due >= dueMs) return
    clearTimeout(timer)
    dueMs = due
    timer = setTimeout(nudge, ms)
  }
  const failed = (error: unknown): void => {
    failures += 1
    onFailure(error)
    wakeIn(Math.min(retryDelay(failures, random()), PASS_EVERY_MS))
  }
  const succeeded = (scope: Scope<T>): void => {
    failures = 0
    if (scope === 'all') wakeIn(PASS_EVERY_MS)
    setImmediate(turn)
  }
  const turn = (): void => {
    if (stopped || running || (next !== 'all' && next.size === 0)) return
    const scope = next
    next = new Set()
    if (scope === 'all') {
      clearTimeout(timer)
      dueMs = Number.POSITIVE_INFINITY
    }
    running = true
    void pass(scope)
      .finally(() => {
        running = false
      })
      .then(() => succeeded(scope), failed)
  }
  return {
    nudge,
    nudgeFor(some) {
      if (next !== 'all') for (const one of some) next.add(one)
      if (next !== 'all' && next.size > FEW) next = 'all'
      turn()
    },
    wakeIn,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
