// Runs passes of the convergence loop one after another. A full pass runs on request, at a requested time, and at least
// every 30 seconds. Partial passes over a few items run in between, because in a full pass Docker lists all containers.

import { retryDelay } from './retry-backoff.ts'

const PASS_EVERY_MS = 30_000
/** Largest number of items in a partial pass; for more items a full pass is cheaper. */
const MAX_PARTIAL = 8

export type Scope<T> = 'all' | ReadonlySet<T>

export interface Loop<T> {
  /** Requests a full pass of the convergence loop. */
  nudge(): void
  nudgeFor(some: Iterable<T>): void
  /**
   * Requests a full pass after `ms`; Infinity: never. Of several requests since the last full pass, the earliest is used.
   */
  wakeIn(ms: number): void
  stop(): void
}

/** Creates the loop. A failed pass is retried as a full pass, with growing delays. */
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
      if (next !== 'all' && next.size > MAX_PARTIAL) next = 'all'
      turn()
    },
    wakeIn,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
