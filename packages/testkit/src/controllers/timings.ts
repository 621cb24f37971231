// Timings of the controllers for tests: the defaults, and a tenth of the defaults.

import { LEADERSHIP_TIMINGS } from '@holdfast/server/loops/leadership/lead-shards'
import type { LeadershipTimings } from '@holdfast/server/loops/leadership/leadership-state'

export const scaledTimings = (factor: number): LeadershipTimings => {
  const { heartbeatMs, silentMs, lagMs, checkMs } = LEADERSHIP_TIMINGS
  return {
    heartbeatMs: heartbeatMs * factor,
    silentMs: silentMs * factor,
    lagMs: lagMs * factor,
    checkMs: checkMs * factor,
  }
}

export const TENTH = scaledTimings(0.1)

/**
 * Timings with which no pause of a busy machine costs a process its shards. A process that gets shards back plans all its
 * work again, which would hide that a change does not wake it.
 */
export const UNSUSPENDED = scaledTimings(10)
