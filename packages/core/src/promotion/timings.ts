// The times of promises and promotions, and the condition under which a promise outlives the lease that it backs
// (docs/design/promotion.md#clocks).

export interface PromotionTimings {
  /** The primary asks each promotable node for a new promise after this time. */
  readonly renewEveryMs: number
  /** Length of the primary's lease, from its clock before the renewal was sent. */
  readonly leaseMs: number
  /** Length of a copy's promise, from its clock when the renewal arrived. */
  readonly promiseMs: number
  /** The fencer begins this long before the lease ends, and needs at most this long. */
  readonly fenceMs: number
  /** A promotable node without an answer for this time is dropped by the primary. */
  readonly shrinkAfterMs: number
  /** The primary must have sent no heartbeat for this time before a copy is prepared. */
  readonly silentAfterMs: number
  /** The shortest time between two promotions of a group. */
  readonly promotionsApartMs: number
  /** A copy further behind is promoted only by force. */
  readonly maxLagMs: number
  /** The largest relative error of the rate of any machine's clock. */
  readonly drift: number
}

export const PROMOTION_TIMINGS: PromotionTimings = {
  renewEveryMs: 2_000,
  leaseMs: 12_000,
  promiseMs: 18_000,
  fenceMs: 2_000,
  shrinkAfterMs: 3_000,
  silentAfterMs: 12_000,
  promotionsApartMs: 60_000,
  maxLagMs: 60_000,
  drift: 0.05,
}

/** The shortest and the longest lease that an agent accepts. */
export const MIN_LEASE_MS = 1_000
export const MAX_LEASE_MS = 60_000

/** The times for a lease of another length. All agents of a tenant need the same length. */
export const timingsFor = (leaseMs: number): PromotionTimings => ({
  ...PROMOTION_TIMINGS,
  leaseMs,
  renewEveryMs: leaseMs / 6,
  promiseMs: leaseMs * 1.5,
  fenceMs: leaseMs / 6,
  shrinkAfterMs: leaseMs / 4,
})

/** True if a promise on the fastest clock still ends after the lease on the slowest clock, fencing included. */
export const promiseOutlivesLease = ({ leaseMs, promiseMs, fenceMs, drift }: PromotionTimings): boolean =>
  promiseMs * (1 - drift) >= leaseMs * (1 + drift) + fenceMs
