// Decides whether a gateway that has no fresh view of the store keeps its sessions. Other server replicas with a fresh view
// declare its nodes failed, so it ends the sessions and the agents connect to those replicas. Without proof of such a
// replica the store may be unavailable to all of them, and every session is kept. See docs/design/liveness.md#cut-off

export interface StoreAccessTimes {
  /** Milliseconds without a fresh view after which the other server replicas are asked. */
  readonly awayMs: number
  /** Milliseconds without a fresh view after which the sessions may end. Longer than `awayMs`. */
  readonly cutOffMs: number
}

export interface StoreAccessFacts {
  /** Milliseconds since the last fresh view, without the time for which this process was suspended. */
  readonly withoutViewMs: number
  /**
   * Milliseconds for which other server replicas have reported a fresh view without interruption. Undefined if the last
   * question found none, which includes that no replica answered.
   */
  readonly othersFreshMs: number | undefined
}

/**
 * `reached`: the store answers. `waiting`: it is too early for a decision. `alone`: no other server replica is known to have
 * a fresh view, so the sessions stay. `cut_off`: the sessions end and hellos are refused.
 */
export type StoreAccess = 'reached' | 'waiting' | 'alone' | 'cut_off'

export function judgeStoreAccess(
  { withoutViewMs, othersFreshMs }: StoreAccessFacts,
  { awayMs, cutOffMs }: StoreAccessTimes,
): StoreAccess {
  if (withoutViewMs < awayMs) return 'reached'
  if (withoutViewMs < cutOffMs) return 'waiting'
  if (othersFreshMs === undefined) return 'alone'
  // When the store returns for all replicas, one of them notices first. The others get this time to notice, too.
  return othersFreshMs < cutOffMs - awayMs ? 'waiting' : 'cut_off'
}
