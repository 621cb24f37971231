export { type Explanation, explainCandidates } from './explain.ts'
export type { NodeFacts, TenantFacts, Workload } from './facts.ts'
export { PLACEMENT_FILTERS } from './filters/index.ts'
export {
  CURE_KINDS,
  type CureKind,
  type ExplainedCandidate,
  type Filter,
  type NodeRefusal,
} from './refusal.ts'
export { createSchedulingView, type Placing, placeReplicas, type SchedulingView } from './scheduling-view.ts'
