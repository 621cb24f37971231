// A clock that runs with the real one and is put forward, so that no test waits for a deadline.

import { realClock } from '@holdfast/server/system-clock'

export function createSetClock() {
  let ahead = 0
  return {
    now: () => realClock.now() + ahead,
    advance(ms: number): void {
      ahead += ms
    },
  }
}
