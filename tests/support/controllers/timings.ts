// The shipped timings, and a tenth of them.

import { LEADERSHIP_TIMINGS } from '../../../packages/server/src/loops/leadership/lead-shards.ts'
import type { LeadershipTimings } from '../../../packages/server/src/loops/leadership/leading.ts'

export const scaledTimings = (factor: number): LeadershipTimings => {
  const { heartbeatMs, silentMs, lagMs, lookMs } = LEADERSHIP_TIMINGS
  return {
    heartbeatMs: heartbeatMs * factor,
    silentMs: silentMs * factor,
    lagMs: lagMs * factor,
    lookMs: lookMs * factor,
  }
}

export const TENTH = scaledTimings(0.1)
