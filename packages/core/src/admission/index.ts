export { describeReceived, detectCredential, safeKey } from '../credentials/index.ts'
export { isDeploymentName, isEnvironmentKey, isLabelKey, isLabelValue, isMountTarget } from '../grammar.ts'
export { parseImageReference } from '../image-reference.ts'
export { DEFAULT_LIMITS, type Limits, RESERVED_NAMES } from '../limits.ts'
export { reject, storeUnavailable } from '../reject.ts'
export { checkBody, judgeBody, type ValidPart } from './admit-body.ts'
export { admitDeployment, type BodyVerdict } from './admit-deployment.ts'
export { checkSecretWrite, type SecretWriteRules, type SecretWriteVerdict } from './check-secret-write.ts'
export { type AdmissionContext, admissionContext } from './context.ts'
export { type DescribedBody, describeBodies } from './describe/bodies.ts'
export {
  type DescribedField,
  describeManifest,
  describeManifestInSteps,
  exampleDocument,
  flattenFields,
} from './describe/describe-body.ts'
export { describeCode, type FieldRejection } from './describe/field-rejections.ts'
export { announceStopFirst } from './facts/announce-stop-first.ts'
export { warnOfDependents } from './facts/check-dependencies.ts'
export {
  type Addressed,
  checkFacts,
  checkFound,
  checkQuotas,
  checkValidPart,
  type FactsVerdict,
} from './facts/check-facts.ts'
export { explainResidency } from './facts/check-residency.ts'
export { followVolumes } from './facts/check-volumes.ts'
export type {
  DependencyFact,
  DistanceFact,
  ExistingFact,
  Facts,
  ImageFact,
  NodeFact,
  QuotaFact,
  ResidencyFact,
  VolumeFact,
  VolumesFact,
} from './facts/facts.ts'
export { routeIdentity } from './facts/route-identity.ts'
export { canonicalSpec } from './normalize/canonical-spec.ts'
export { mergeSent } from './normalize/merge.ts'
export { type Normalised, normalise } from './normalize/normalise.ts'
export { orderByNeed } from './order-by-need.ts'
export { checkPersistable } from './persist-guard.ts'
export { shownKey } from './rule-engine/fault-list.ts'
export { CROSS_RULES, FIELD_RULES } from './rule-list.ts'
