// The delay before the agent reconnects: it grows with each failure and is random, so that not all nodes reconnect to a
// restarted server at once.

const FIRST_MS = 1_000
const LONGEST_MS = 30_000

/**
 * Longest delay, in heartbeats: a node becomes unreachable after three missed heartbeats, so it reconnects within two.
 */
const MAX_HEARTBEATS = 2

/**
 * Delay before the next connection. The upper limit doubles with each failure; `random`, from 0 to 1, chooses a delay
 * between half of this limit and the limit. `heartbeatMs` is the heartbeat interval that the server last requested.
 */
export function reconnectDelayMs(failures: number, random: number, heartbeatMs = LONGEST_MS): number {
  const longest = Math.max(FIRST_MS, Math.min(LONGEST_MS, MAX_HEARTBEATS * heartbeatMs))
  const step = Math.min(longest, FIRST_MS * 2 ** Math.min(failures, 16))
  return step * (0.5 + random / 2)
}
