export * from './admission/index.ts'
export { ACTIONS, type Action, may, rolesThatMay } from './authorization/roles.ts'
export { describeReceived, detectCredential, safeField, safeKey } from './credentials/index.ts'
export * from './image-reference.ts'
export {
  type CellNode,
  detectMassFailure,
  type MassFailureVerdict,
  type MassTimes,
} from './liveness/detect-mass-failure.ts'
export { canonicalTemplate, containerTemplate, type Pins, pinOf } from './node/container-template.ts'
export { isReady } from './node/observe-replica.ts'
export {
  type Dependency,
  dependencyText,
  type UnmetDependency,
  unmetDependencies,
} from './rollout/dependency-gate.ts'
export {
  DEPENDENCY_UNHEALTHY,
  deriveStatus,
  failureText,
  RESIDENCY_NO_MATCH,
  RESIDENCY_OFF,
  type StatusFacts,
} from './rollout/derive-status.ts'
export { isHeard, type NodeDisposition, type ReplicaFacts } from './rollout/desired-replicas.ts'
export type { DesiredDeployment, PlacedDeployment, UpdateRules } from './rollout/desired-rollout.ts'
export { displacedDisposition } from './rollout/displaced-disposition.ts'
export { giveUpLost, isUnchanged } from './rollout/plan-replicas.ts'
export { planRollout, type RolloutPlan } from './rollout/plan-rollout.ts'
export { isStateful, updateRulesOf } from './rollout/plan-rollout-rules.ts'
export { isServing } from './rollout/replica-health.ts'
export { type SecretTrouble, secretTroubleText, unresolvedSecrets } from './rollout/secret-trouble.ts'
export * from './scheduling/index.ts'
export * from './secrets/index.ts'
