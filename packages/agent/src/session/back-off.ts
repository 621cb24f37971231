// How long to wait before dialling again: longer after each failure, never the same for all nodes, so that a server that
// comes back is not met by all of them at once.

const FIRST_MS = 1_000
const LONGEST_MS = 30_000

/** Whoever dials again within so many beats is heard in time: nobody is called unreachable before three are over. */
const MOST_HEARTBEATS = 2

/**
 * `random` is from 0 up to 1. The wait is between half of the step and all of it. Without `heartbeatMs` no server has said yet
 * how often it wants to hear of us.
 */
export function backOffMs(failures: number, random: number, heartbeatMs = LONGEST_MS): number {
  const longest = Math.max(FIRST_MS, Math.min(LONGEST_MS, MOST_HEARTBEATS * heartbeatMs))
  const step = Math.min(longest, FIRST_MS * 2 ** Math.min(failures, 16))
  return step * (0.5 + random / 2)
}
