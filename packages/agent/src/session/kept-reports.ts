// Keeps the newest observation of each assignment. The server does not acknowledge observations, so all are sent again
// after each complete desired set: a lost observation is repaired within a minute, and the server writes only changes.

import type { AssignmentId, Observation } from '@holdfast/contract'

export interface KeptReports {
  keep(observations: readonly Observation[]): void
  /** All kept observations, in batches of a size that the server accepts. */
  all(): Observation[][]
  /** Drops observations of assignments that are gone and that the server no longer lists. */
  forgetGone(desired: ReadonlySet<AssignmentId>): void
  /** Keeps the names of orphans that were too many to remove. */
  keepOrphans(names: readonly string[]): void
  orphans(): readonly string[]
}

/** The most observations, or copies of volumes, in one message. */
const MAX_OBSERVATIONS = 100

export function createKeptReports(): KeptReports {
  const newest = new Map<AssignmentId, Observation>()
  let orphans: readonly string[] = []
  return {
    keep(observations) {
      for (const one of observations) newest.set(one.assignmentId, one)
    },
    all: () => inMessages([...newest.values()]),
    forgetGone(desired) {
      for (const [id, { gone }] of newest) if (gone && !desired.has(id)) newest.delete(id)
    },
    keepOrphans(names) {
      orphans = names
    },
    orphans: () => orphans,
  }
}

export function inMessages<T>(observations: readonly T[]): T[][] {
  const messages: T[][] = []
  for (let from = 0; from < observations.length; from += MAX_OBSERVATIONS)
    messages.push(observations.slice(from, from + MAX_OBSERVATIONS))
  return messages
}
