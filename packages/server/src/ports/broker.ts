// The interface of the broker, the only role that reads secret values. The broker never returns plain secret values, only
// texts that are encrypted (sealed) to one node. The shapes define the messages between two server processes, too.

import {
  type AssignmentId,
  branded,
  type Infer,
  integer,
  type NodeId,
  type Owner,
  object,
  oneOf,
  optional,
  string,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import type { ManifestAnswer } from './registry.ts'

/** Result of an image check. `credentials_unavailable` leads to the rejection registry_credential_store_unavailable. */
export type ImageAnswer = ManifestAnswer | { readonly kind: 'credentials_unavailable' }

export const imageAskShape = object({
  tenant: branded<TenantId>(),
  image: string(),
  /** Version of the tenant's registry credential; absent for an anonymous request. */
  credentialVersion: optional(integer()),
})

/** An assignment and the node that claims to run the assignment. The broker verifies the claim. */
const assignedShape = object({
  tenant: branded<TenantId>(),
  nodeId: branded<NodeId>(),
  owner: branded<Owner>(),
  assignmentId: branded<AssignmentId>(),
})
export type Assigned = Infer<typeof assignedShape>

export const environmentAskShape = object({ ...assignedShape.fields, attempt: string() })
export type EnvironmentAsk = Infer<typeof environmentAskShape>

/**
 * Request for the registry credential of an image: of an assignment, or of the containers that write a volume whose
 * promotable copy the node holds. The broker verifies either claim.
 */
export const credentialAskShape = object({
  tenant: branded<TenantId>(),
  nodeId: branded<NodeId>(),
  host: string(),
  owner: optional(branded<Owner>()),
  assignmentId: optional(branded<AssignmentId>()),
  volume: optional(branded<VolumeId>()),
})
export type CredentialAsk = Infer<typeof credentialAskShape>

export const BROKER_ERRORS = [
  'secret_unresolved',
  'not_assigned',
  'already_answered',
  'broker_unavailable',
  'credential_unavailable',
] as const
export type BrokerError = (typeof BROKER_ERRORS)[number]

export const sealedAnswerShape = object({
  /** The secret values, encrypted to the node's key. */
  sealed: optional(string()),
  error: optional(oneOf(BROKER_ERRORS)),
  /** For the error `secret_unresolved`: the name of the secret or variable, and the cause. */
  about: optional(string()),
})
/** Answer to a node. Without `sealed` and `error`, the tenant has no credential for the registry. */
export type SealedAnswer = Infer<typeof sealedAnswerShape>

export interface Broker {
  /**
   * Checks the image reference in the registry, with the tenant's credential at the given version, or anonymously without
   * a version. The answer for an invalid reference or a registry that is not allowed is `unreachable` with the cause
   * `not_allowed`; admission rejects such references earlier.
   */
  checkImage(tenant: TenantId, image: string, credentialVersion: number | undefined): Promise<ImageAnswer>
  /** Returns a container's environment, sealed to its node. Each attempt is answered once. The promise never rejects. */
  sealEnvironment(ask: EnvironmentAsk): Promise<SealedAnswer>
  /** Returns the current registry credential for an image pull, sealed to the node. The promise never rejects. */
  sealCredential(ask: CredentialAsk): Promise<SealedAnswer>
}
