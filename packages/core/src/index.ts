export * from './admission/index.ts'
export { ACTIONS, type Action, may, tokensThatMay } from './authorization/roles.ts'
export { judgeTokenRoom } from './authorization/token-room.ts'
export * from './backups/index.ts'
export { abortCanary, isActiveCanary } from './canary/advance-canary.ts'
export { CANARY_ENDED, canaryText } from './canary/canary-text.ts'
export {
  CANARY_DEFAULTS,
  type CanaryStart,
  checkCanaryPromotion,
  checkCanaryReplicas,
  checkCanaryRuns,
  checkCanaryStart,
  checkCanaryWeight,
} from './canary/check-canary.ts'
export { type ReplicaRequests, requestedBy } from './canary/replica-requests.ts'
export { isCanaryReplica, stableAssignments } from './canary/split-assignments.ts'
export { describeReceived, detectCredential, safeField, safeKey } from './credentials/index.ts'
export * from './image-reference.ts'
export * from './jobs/index.ts'
export {
  type CellNode,
  detectMassFailure,
  type MassFailureVerdict,
  type MassTimes,
} from './liveness/detect-mass-failure.ts'
export { type EngineState, judgeEngine } from './liveness/judge-engine.ts'
export {
  judgeStoreAccess,
  type StoreAccess,
  type StoreAccessTimes,
} from './liveness/judge-store-access.ts'
export {
  carriedHealth,
  faultsOf,
  hasFailedEngine,
  hasSilentEngine,
  isDiskPressed,
  nextHealth,
  nodeSince,
} from './liveness/node-faults.ts'
export * from './networks/index.ts'
export { failingContainers } from './node/container-cause.ts'
export {
  canonicalTemplate,
  containerTemplate,
  neededCapabilities,
  type Pins,
  pinOf,
} from './node/container-template.ts'
export { isDiskNews, isUnderPressure, usedPercent } from './node/disk/disk-use.ts'
export { isReady } from './node/observe-replica.ts'
export * from './recommendations/index.ts'
export { judgeKnownStore } from './restore/judge-known-store.ts'
export { type Dependency, dependencyText } from './rollout/dependency-gate.ts'
export { DEPENDENCY_UNHEALTHY, deriveStatus } from './rollout/derive-status.ts'
export type { NodeDisposition } from './rollout/desired-replicas.ts'
export * from './scaling/index.ts'
export { avoiding } from './scheduling/avoid-nodes.ts'
export type { Explanation } from './scheduling/explain.ts'
export type { MountedVolume, NamedNetwork, NodeFacts, TenantFacts, Workload } from './scheduling/facts.ts'
export type { RetryTrigger } from './scheduling/refusal.ts'
export { desiredResidency, residencyLabels, sameStand } from './scheduling/residency.ts'
export * from './secrets/index.ts'
export * from './upgrade/index.ts'
export * from './upkeep/index.ts'
export * from './volumes/index.ts'
