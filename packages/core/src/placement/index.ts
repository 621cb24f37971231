// The entry point for controllers: planning a placement, the scheduling view that a plan queries, and the steps and
// effects of a dry run. Only loops/controllers may import this file; code that only explains a placement imports
// explain-placement.ts. See docs/design/packages.md#import-rules

export {
  AVOIDED_MS,
  avoiding,
  createPickDescriber,
  createSchedulingView,
  type Placing,
  type SchedulingView,
  sameAgent,
  sameFaults,
} from '../scheduling/index.ts'
export { createPickReasons, type PickReasons } from './ahead/pick-reasons.ts'
export { plannedEffects } from './ahead/planned-effects.ts'
export { plannedSteps } from './ahead/planned-steps.ts'
export type { PlannedDeployment, PlannedTurn } from './ahead/replica-courses.ts'
export { canaryWaitsText, waitsText } from './ahead/waits-text.ts'
export { attemptId } from './assignment-id.ts'
export { hasSameRequests, placeOf } from './counted-changes.ts'
export { prepareExplanation } from './explain-placement.ts'
export { isRunning } from './find-displaced.ts'
export type { PlacementEvent, PlacementPlan } from './placement-plan.ts'
export { planPlacement } from './plan-placement.ts'
export type { CountedReplicas, PlacementRecord, PlacementSnapshot, VolumeAt } from './snapshot.ts'
export { type ClaimChanges, claimChanges, sizesInMemory } from './writer-claims.ts'
