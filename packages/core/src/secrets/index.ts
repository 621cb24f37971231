export { anchorVolume } from './anchor.ts'
export {
  type AnchoredVolume,
  checkpointOf,
  nextCheckpoint,
  type RotationCheckpoint,
  volumesToAsk,
} from './anchored-volumes.ts'
export { checkSecretPath } from './check-path.ts'
export {
  type ComposedEnvironment,
  composeEnvironment,
  type EntryDocuments,
  type EnvironmentParts,
  type MissingKey,
} from './compose-environment.ts'
export { generateValues, type RandomBytes } from './generate.ts'
export type { GeneratePlan, SentMaterial } from './material.ts'
export { type CredentialFact, type PinPlan, type PinQuestion, planPins } from './plan-pins.ts'
export { newestUsable, planPatch, type SentDocument, warnOfDroppedKeys } from './plan-write.ts'
export {
  blockers,
  consumerBlockers,
  hasProved,
  nextMove,
  nextSteps,
  type Rotating,
  type RotationConsumer,
  type RotationFacts,
  type RotationMove,
  type RotationTurn,
  turnRotation,
} from './rotation.ts'
export { describeStarter, type RotationStarter, type StarterText } from './rotation-starter.ts'
export { type CredentialPath, credentialPath, faultOfPath, isCredentialLabel } from './vault-path.ts'
export type { WrittenMaterial } from './written-material.ts'
