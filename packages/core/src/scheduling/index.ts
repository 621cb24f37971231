export { AVOIDED_MS, avoidedAt, avoidedUntil, avoiding } from './avoid-nodes.ts'
export { toCandidate } from './candidate-texts.ts'
export { createPickDescriber, type PickDescriber } from './describe-pick.ts'
export { type Explanation, explainCandidates } from './explain.ts'
export type { ExplainedCandidate } from './explain-nodes.ts'
export type { DesiredResidency, MountedVolume, NodeFacts, TenantFacts, Workload } from './facts.ts'
export { sameAgent } from './filters/agent-version.ts'
export { isSilent, sameFaults } from './filters/engine.ts'
export { PLACEMENT_FILTERS } from './filters/index.ts'
export { boundGroups, type GroupBounds } from './groups.ts'
export { type HypotheticalChange, NO_DEPLOYMENT } from './hypothetical.ts'
export { leaveForbidden, type Whereabouts } from './leave-forbidden.ts'
export { lazy } from './memoize.ts'
export {
  type Filter,
  type NodeRefusal,
  RETRY_TRIGGERS,
  type RetryTrigger,
} from './refusal.ts'
export { applyChange, type Situation } from './remedies/apply-changes.ts'
export { answersResidency, desiredResidency, residencyLabels, sameStand } from './residency.ts'
export { createSchedulingView, type Placing, placeReplicas, type SchedulingView } from './scheduling-view.ts'
export { mayStayForNow, stillQualifies } from './still-qualifies.ts'
