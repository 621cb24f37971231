// Which assignments wait for their next try? Each failure makes the wait longer, and another wish ends it.

import type { AssignmentId, DesiredItem } from '@holdfast/contract'

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 60_000

/** `random` is between 0 and 1: retries of many nodes do not come at once. */
export const retryDelay = (count: number, random: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** (count - 1), LAST_RETRY_MS) * (0.75 + random / 2)

type Desired = ReadonlyMap<AssignmentId, DesiredItem>

export interface Setbacks {
  /** Gives the time until the next try; a final failure has none. */
  note(id: AssignmentId, final: boolean): number
  clear(id: AssignmentId): void
  waiting(): AssignmentId[]
}

export function createSetbacks(desired: Desired, nowMs: () => number, random: () => number): Setbacks {
  const noted = new Map<AssignmentId, { count: number; untilMs: number; wish: string | undefined }>()
  return {
    note(id, final) {
      const count = (noted.get(id)?.count ?? 0) + 1
      const delay = final ? Number.POSITIVE_INFINITY : retryDelay(count, random())
      noted.set(id, { count, untilMs: nowMs() + delay, wish: desired.get(id)?.desired })
      return delay
    },
    clear: (id) => noted.delete(id),
    waiting() {
      const now = nowMs()
      return [...noted]
        .filter(([id, { untilMs, wish }]) => untilMs > now && desired.get(id)?.desired === wish)
        .map(([id]) => id)
    },
  }
}
