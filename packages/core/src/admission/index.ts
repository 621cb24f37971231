export { checkBody } from './admit-body.ts'
export { admitDeployment, type BodyVerdict } from './admit-deployment.ts'
export { canonicalSpec } from './canonical-spec.ts'
export { CROSS_RULES, FIELD_RULES } from './catalogue.ts'
export { type Addressed, checkFacts, checkFound, checkQuotas, type FactsVerdict } from './check-facts.ts'
export { explainResidency } from './check-residency.ts'
export { type AdmissionContext, admissionContext } from './context.ts'
export type {
  CredentialFact,
  DependencyFact,
  ExistingFact,
  Facts,
  ImageFact,
  NodeFact,
  QuotaFact,
  ResidencyFact,
} from './facts.ts'
export { isDeploymentName, isLabelKey, isLabelValue } from './grammar.ts'
export { DEFAULT_LIMITS, type Limits, RESERVED_NAMES } from './limits.ts'
export { mergeSent } from './merge.ts'
export { type Normalised, normalise } from './normalise.ts'
export { checkPersistable } from './persist-guard.ts'
export { reject } from './reject.ts'
export { routeIdentity } from './route-identity.ts'
