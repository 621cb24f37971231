// Whether a place where data is now meets a residency demand. It reports and decides nothing: a demand that changed after
// a replica was placed may no longer be met.

import type { ResidencyDemand, ResidencyRules } from '@holdfast/contract'
import { answersResidency, desiredResidency, type Stand } from './scheduling/residency.ts'

/** `place` is undefined for a node that is not known: its location is unknown too, so it meets no demand. */
export function meetsResidency(
  demand: ResidencyDemand,
  rules: ResidencyRules,
  place: Stand | undefined,
): boolean {
  const desired = desiredResidency(demand, rules)
  return desired === undefined || (place !== undefined && answersResidency(desired, place))
}
