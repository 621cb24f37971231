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
export { canonicalTemplate, containerTemplate, type Pins, pinOf } from './reconcile/container-template.ts'
export {
  type Dependency,
  dependencyText,
  type UnmetDependency,
  unmetDependencies,
} from './reconcile/dependency-gate.ts'
export {
  DEPENDENCY_UNHEALTHY,
  deriveStatus,
  failureText,
  RESIDENCY_NO_MATCH,
  RESIDENCY_OFF,
  type StatusFacts,
} from './reconcile/derive-status.ts'
export { isHeard, type NodeDisposition, type ReplicaFacts } from './reconcile/desired-replicas.ts'
export type { DesiredDeployment, PlacedDeployment, UpdateRules } from './reconcile/desired-rollout.ts'
export { displacedDisposition } from './reconcile/displaced-disposition.ts'
export { isReady } from './reconcile/observe-replica.ts'
export { giveUpLost, isUnchanged } from './reconcile/plan-replicas.ts'
export { isServing } from './reconcile/plan-replicas-number.ts'
export { planRollout, type RolloutPlan } from './reconcile/plan-rollout.ts'
export { isStateful, updateRulesOf } from './reconcile/plan-rollout-rules.ts'
export { type SecretTrouble, secretTroubleText, unresolvedSecrets } from './reconcile/secret-trouble.ts'
export * from './scheduling/index.ts'
export * from './secrets/index.ts'
