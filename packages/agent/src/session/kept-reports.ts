// The newest report of each assignment. Whether the server has stored it is not told, so all of them are said again after
// each complete set: what got lost on the way is repaired within a minute, and the server writes only what is news.

import type { AssignmentId, Observation } from '@holdfast/contract'

export interface KeptReports {
  keep(observations: readonly Observation[]): void
  /** In messages of a size that the server takes. */
  all(): Observation[][]
  /** The server knows of these assignments and no others: what is gone and not among them needs no saying any more. */
  forgetGone(wished: ReadonlySet<AssignmentId>): void
  /** Names of containers that nobody wishes and that were left. */
  keepOrphans(names: readonly string[]): void
  orphans(): readonly string[]
}

const REPORTED_AT_ONCE = 100

export function createKeptReports(): KeptReports {
  const newest = new Map<AssignmentId, Observation>()
  let orphans: readonly string[] = []
  return {
    keep(observations) {
      for (const one of observations) newest.set(one.assignmentId, one)
    },
    all: () => inMessages([...newest.values()]),
    forgetGone(wished) {
      for (const [id, { gone }] of newest) if (gone && !wished.has(id)) newest.delete(id)
    },
    keepOrphans(names) {
      orphans = names
    },
    orphans: () => orphans,
  }
}

export function inMessages(observations: readonly Observation[]): Observation[][] {
  const messages: Observation[][] = []
  for (let from = 0; from < observations.length; from += REPORTED_AT_ONCE)
    messages.push(observations.slice(from, from + REPORTED_AT_ONCE))
  return messages
}
