// Watches whether this process gets a fresh view of the store. Silence of nodes during an outage is ignored, because no
// status can be written then. See docs/design/liveness.md#failure-detection.

import type { Store } from '../store/store.ts'

/** Number of polls within the time after which the store counts as unavailable. */
const POLLS_PER_PERIOD = 3

export interface StoreWatch {
  /** Time of the last fresh view, by the monotonic clock. */
  readonly freshAt: number
  /** Whether the store counts as unavailable at the time `now`. */
  isAway(now: number): boolean
  /** Polls the store if it is time for it. To be called often. */
  poll(now: number): void
}

/** `onBack` is called with the time at which the store answers again after it counted as unavailable. */
export function watchStore(
  store: Pick<Store, 'fresh'>,
  monotonic: () => number,
  awayMs: number,
  onBack: (now: number) => void,
): StoreWatch {
  let polledAt = monotonic()
  let freshAt = polledAt
  let polling = false
  const isAway = (now: number): boolean => now - freshAt > awayMs
  const answered = (): void => {
    const now = monotonic()
    if (isAway(now)) onBack(now)
    freshAt = now
  }
  return {
    get freshAt() {
      return freshAt
    },
    isAway,
    poll(now) {
      if (polling || now - polledAt < awayMs / POLLS_PER_PERIOD) return
      polledAt = now
      polling = true
      store
        .fresh()
        // A failed poll needs no handling: an outage of the store is detected by the age of `freshAt`.
        .then(answered, () => {})
        .finally(() => {
          polling = false
        })
    },
  }
}
