// Which assignments wait for their next try? Each failure makes the wait longer, and another wish ends it.

import type { AssignmentId, DesiredItem } from '@holdfast/contract'

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 60_000
const FIRST_ENVIRONMENT_MS = 5_000
const LAST_ENVIRONMENT_MS = 30_000

/** `random` is between 0 and 1: retries of many nodes do not come at once. */
export const retryDelay = (count: number, random: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** (count - 1), LAST_RETRY_MS) * (0.75 + random / 2)

/** A secrets store that comes back is not met by every container of every node at once. DECISIONS 5, SAFETY 4e. */
export const environmentDelay = (count: number, random: number): number =>
  Math.min(FIRST_ENVIRONMENT_MS * 2 ** (count - 1), LAST_ENVIRONMENT_MS) * (0.75 + random / 4)

/** `final`: trying again cannot help. `environment`: that of a container is not to be had. */
export type FailureKind = 'final' | 'environment' | 'other'

type Desired = ReadonlyMap<AssignmentId, DesiredItem>

export interface RetryBackoff {
  /** Gives the time until the next try; a final failure has none. */
  note(id: AssignmentId, kind: FailureKind): number
  clear(id: AssignmentId): void
  waiting(): AssignmentId[]
  /** Until the first of those that wait may be tried again; infinite where none will be. */
  soonestMs(): number
}

const DELAYS: { readonly [kind in FailureKind]: (count: number, random: number) => number } = {
  final: () => Number.POSITIVE_INFINITY,
  environment: environmentDelay,
  other: retryDelay,
}

interface Noted {
  readonly kind: FailureKind
  /** How often it was so, one after another. */
  readonly count: number
  readonly untilMs: number
  readonly wish: string | undefined
}

export function createRetryBackoff(
  desired: Desired,
  nowMs: () => number,
  random: () => number,
): RetryBackoff {
  const noted = new Map<AssignmentId, Noted>()
  const waitingAt = (now: number): [AssignmentId, Noted][] =>
    [...noted].filter(([id, { untilMs, wish }]) => untilMs > now && desired.get(id)?.desired === wish)
  return {
    note(id, kind) {
      const last = noted.get(id)
      const count = last?.kind === kind ? last.count + 1 : 1
      const delay = DELAYS[kind](count, random())
      noted.set(id, { kind, count, untilMs: nowMs() + delay, wish: desired.get(id)?.desired })
      return delay
    },
    clear: (id) => noted.delete(id),
    waiting: () => waitingAt(nowMs()).map(([id]) => id),
    soonestMs() {
      const now = nowMs()
      return Math.min(...waitingAt(now).map(([, { untilMs }]) => untilMs - now))
    },
  }
}
