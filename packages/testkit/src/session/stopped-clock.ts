// Stops the monotonic clock of this process for one test, which then decides how much time passes. Timers still run: the
// gateway keeps sweeping and sees the time that the test has let pass.

import { onTestFinished, vi } from 'vitest'

export interface StoppedClock {
  /** Lets time pass. A gateway that misses more than four of its sweeps takes the time for its own suspension. */
  advance(ms: number): void
}

export function stopClock(): StoppedClock {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return {
    advance(ms) {
      now += ms
    },
  }
}
