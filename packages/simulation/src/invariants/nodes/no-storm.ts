// Invariant: no controller writes the same placement without end, for example because it rejects its own record each
// time. Requests, observations and timers cause a few writes of a placement within seconds, not hundreds.

import type { Invariant } from '../invariant.ts'

const WINDOW_MS = 10_000
/** Allowed writes of one placement per window: more than the start, failure and stop of four replicas can cause. */
const MOST_WRITES = 100

export const noStorm: Invariant = {
  name: 'no-storm',
  start() {
    const windows = new Map<string, { readonly until: number; writes: number }>()
    return function* (moment) {
      for (const { tenant, id, is, was } of moment.placements.changed) {
        const key = `${tenant}/${id}`
        const known = windows.get(key)
        const window =
          known === undefined || known.until <= moment.now
            ? { until: moment.now + WINDOW_MS, writes: 0 }
            : known
        windows.set(key, window)
        window.writes += 1
        if (window.writes > MOST_WRITES)
          yield {
            subject: (is ?? was)?.name ?? id,
            message: `is placed again ${window.writes} times within ${WINDOW_MS / 1000} s`,
          }
      }
    }
  },
}
