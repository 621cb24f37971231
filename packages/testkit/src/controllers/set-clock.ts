// A clock that runs at the speed of the real clock and can be advanced, so that no test has to wait for a deadline.

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
