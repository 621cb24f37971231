// The stops of the time slider: one for each decision, oldest first, and a last one for now.

import type { Decision } from '@holdfast/contract'

/** The decision that was in force at a time; undefined if none of that age is kept. Decisions are newest first. */
export function decisionAt(decisions: readonly Decision[], at: string): Decision | undefined {
  const time = Date.parse(at)
  return decisions.find((decision) => Date.parse(decision.at) <= time)
}

/** The stop of a time: that of the decision in force; the first one if the time is older than all. */
export function stopOf(decisions: readonly Decision[], at: string | undefined): number {
  if (at === undefined) return decisions.length
  const found = decisionAt(decisions, at)
  return found === undefined ? 0 : decisions.length - 1 - decisions.indexOf(found)
}

/** The time of a stop; undefined for now. */
export const timeOfStop = (decisions: readonly Decision[], stop: number): string | undefined =>
  decisions[decisions.length - 1 - stop]?.at
