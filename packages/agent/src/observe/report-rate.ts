// Bounds how often one assignment is reported, because every report is a stored write and a container may crash for days.

import type { AssignmentId } from '@holdfast/contract'

/** Reports of an assignment that are sent without delay, enough for a start that needs several attempts. */
const BURST = 8
/** After the burst one report is sent in this time. */
const INTERVAL_MS = 15_000

export interface ReportRate {
  /** Milliseconds until the next report of the assignment may be sent. */
  delayMs(id: AssignmentId): number
  /** Records that a report was sent. */
  spend(id: AssignmentId): void
  forget(id: AssignmentId): void
}

export function createReportRate(monotonicMs: () => number): ReportRate {
  /** For each assignment, the time at which its whole burst is available again. */
  const fullAt = new Map<AssignmentId, number>()
  const owedMs = (id: AssignmentId): number => Math.max(0, (fullAt.get(id) ?? 0) - monotonicMs())
  return {
    delayMs: (id) => Math.max(0, owedMs(id) - (BURST - 1) * INTERVAL_MS),
    spend(id) {
      // Urgent reports are never delayed, so they may not delay later ones without bound either.
      const owed = Math.min(owedMs(id) + INTERVAL_MS, BURST * INTERVAL_MS)
      fullAt.set(id, monotonicMs() + owed)
    },
    forget: (id) => fullAt.delete(id),
  }
}
