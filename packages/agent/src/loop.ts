// Passes one after another: at a nudge, at a time that was wished, and at the latest when the last one is half a minute old.

import { retryDelay } from './setbacks.ts'

const PASS_EVERY_MS = 30_000

export interface Loop {
  nudge(): void
  wakeIn(ms: number): void
  stop(): void
}

/** A pass that fails is made again soon, then more and more seldom. */
export function createLoop(
  pass: () => Promise<void>,
  random: () => number,
  onFailure: (error: unknown) => void,
): Loop {
  let running = false
  let again = false
  let stopped = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let dueMs = Number.POSITIVE_INFINITY

  const wakeIn = (ms: number): void => {
    const due = performance.now() + ms
    if (stopped || due >= dueMs) return
    clearTimeout(timer)
    dueMs = due
    timer = setTimeout(turn, ms)
  }
  const failed = (error: unknown): void => {
    failures += 1
    onFailure(error)
    wakeIn(Math.min(retryDelay(failures, random()), PASS_EVERY_MS))
  }
  const succeeded = (): void => {
    failures = 0
    if (again) setImmediate(turn)
    else wakeIn(PASS_EVERY_MS)
  }
  const turn = (): void => {
    if (stopped) return
    again = running
    if (running) return
    clearTimeout(timer)
    dueMs = Number.POSITIVE_INFINITY
    running = true
    void pass()
      .finally(() => {
        running = false
      })
      .then(succeeded, failed)
  }
  return {
    nudge: turn,
    wakeIn,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
