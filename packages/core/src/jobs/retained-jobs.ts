// Decides which finished jobs are removed: those that ended more than 7 days ago, and the oldest beyond 1,000.

import type { JobId } from '@holdfast/contract'

const KEPT_MS = 7 * 24 * 3_600_000
const MOST_KEPT = 1000

export interface FinishedJob {
  readonly id: JobId
  readonly finishedAt: string
}

/** `now`: milliseconds since 1970. */
export function jobsToRemove(finished: readonly FinishedJob[], now: number): JobId[] {
  const newestFirst = finished.toSorted(
    (left, right) => Date.parse(right.finishedAt) - Date.parse(left.finishedAt),
  )
  return newestFirst
    .filter(({ finishedAt }, index) => index >= MOST_KEPT || now - Date.parse(finishedAt) > KEPT_MS)
    .map(({ id }) => id)
}
