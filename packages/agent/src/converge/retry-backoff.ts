// Tracks which assignments back off after a failure. Each failure in a row doubles the delay; a changed desired state
// ends the backoff. See docs/design/agent.md#backoff.

import type { AssignmentId, DesiredItem } from '@holdfast/contract'

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 60_000
const FIRST_ENVIRONMENT_MS = 5_000
const LAST_ENVIRONMENT_MS = 30_000

/** Delay before a retry. `random`, from 0 to 1, changes it by up to a quarter, so that not all nodes retry at once. */
export const retryDelay = (count: number, random: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** (count - 1), LAST_RETRY_MS) * (0.75 + random / 2)

/**
 * Delay before the agent requests an environment again. Jitter only shortens the delay, because a newly written secret
 * must be used within 30 seconds.
 */
export const environmentDelay = (count: number, random: number): number =>
  Math.min(FIRST_ENVIRONMENT_MS * 2 ** (count - 1), LAST_ENVIRONMENT_MS) * (0.75 + random / 4)

/**
 * Kind of a failure. `final`: a retry cannot succeed. `environment`: the container's environment is unavailable. `volume`: a
 * volume cannot be mounted. `lease`: a volume must not be written. `engine`: the engine does not answer. `node`: the node cannot
 * create the container, whatever the container is.
 */
export type FailureKind = 'final' | 'environment' | 'volume' | 'lease' | 'engine' | 'node' | 'other'

type Desired = ReadonlyMap<AssignmentId, DesiredItem>

export interface RetryBackoff {
  /** Records a failure and returns the delay until the next attempt; infinite after a final failure. */
  recordFailure(id: AssignmentId, kind: FailureKind): number
  /** The number of the assignment's latest failures that are of one kind. */
  failuresOf(id: AssignmentId): number
  clear(id: AssignmentId): void
  /** Ends the backoff after failures of a kind, of all assignments or those selected. Returns the assignments that waited. */
  clearKind(kind: FailureKind, isSelected?: (id: AssignmentId) => boolean): AssignmentId[]
  waiting(): AssignmentId[]
  /** Time until the earliest retry of any assignment; infinite if no assignment waits for a retry. */
  soonestMs(): number
}

const DELAYS: { readonly [kind in FailureKind]: (count: number, random: number) => number } = {
  final: () => Number.POSITIVE_INFINITY,
  environment: environmentDelay,
  volume: retryDelay,
  lease: retryDelay,
  engine: retryDelay,
  node: retryDelay,
  other: retryDelay,
}

interface Failure {
  readonly kind: FailureKind
  /** Number of consecutive failures of this kind for one assignment. */
  readonly count: number
  readonly untilMs: number
  readonly desiredState: string | undefined
}

export function createRetryBackoff(
  desired: Desired,
  nowMs: () => number,
  random: () => number,
): RetryBackoff {
  const failures = new Map<AssignmentId, Failure>()
  const waitingAt = (now: number): [AssignmentId, Failure][] =>
    [...failures].filter(
      ([id, { untilMs, desiredState }]) => untilMs > now && desired.get(id)?.desired === desiredState,
    )
  return {
    recordFailure(id, kind) {
      const last = failures.get(id)
      const count = last?.kind === kind ? last.count + 1 : 1
      const delay = DELAYS[kind](count, random())
      const desiredState = desired.get(id)?.desired
      failures.set(id, { kind, count, untilMs: nowMs() + delay, desiredState })
      return delay
    },
    failuresOf: (id) => failures.get(id)?.count ?? 0,
    clear: (id) => failures.delete(id),
    clearKind(kind, isSelected = () => true) {
      const ofKind = [...failures].filter(([, failure]) => failure.kind === kind)
      const ids = ofKind.map(([id]) => id).filter(isSelected)
      for (const id of ids) failures.delete(id)
      return ids
    },
    waiting: () => waitingAt(nowMs()).map(([id]) => id),
    soonestMs() {
      const now = nowMs()
      return Math.min(...waitingAt(now).map(([, { untilMs }]) => untilMs - now))
    },
  }
}
