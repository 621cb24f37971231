// The interface of the broker, the only role that reads secret material. It never returns material itself, only texts that
// are sealed to one node. The shapes also define the messages between two processes.

import {
  type AssignmentId,
  branded,
  type DeploymentUid,
  type Infer,
  integer,
  type NodeId,
  object,
  oneOf,
  optional,
  string,
  type TenantId,
} from '@holdfast/contract'
import type { ManifestAnswer } from './registry.ts'

/** `credentials_unavailable` leads to the rejection registry_credential_store_unavailable. */
export type ImageAnswer = ManifestAnswer | { readonly kind: 'credentials_unavailable' }

export const imageAskShape = object({
  tenant: branded<TenantId>(),
  image: string(),
  /** Absent: the request is anonymous. */
  credentialVersion: optional(integer()),
})

/** An assignment and the node that claims to have it. The broker verifies the claim. */
const assignedShape = object({
  tenant: branded<TenantId>(),
  nodeId: branded<NodeId>(),
  deployment: branded<DeploymentUid>(),
  assignmentId: branded<AssignmentId>(),
})
export type Assigned = Infer<typeof assignedShape>

export const environmentAskShape = object({ ...assignedShape.fields, attempt: string() })
export type EnvironmentAsk = Infer<typeof environmentAskShape>

/** The credential for the image of that assignment. */
export const credentialAskShape = object({ ...assignedShape.fields, host: string() })
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
  /** Encrypted to the node's key. */
  sealed: optional(string()),
  error: optional(oneOf(BROKER_ERRORS)),
  /** For `secret_unresolved`: the entry and the cause. */
  about: optional(string()),
})
/** Neither `sealed` nor `error`: the tenant has no credential for the host. */
export type SealedAnswer = Infer<typeof sealedAnswerShape>

export interface Broker {
  /**
   * Checks the exact reference in the registry, with the tenant's credential at the pinned version, or anonymously if the
   * tenant has none. An invalid reference, or a registry that is not allowed, is unreachable with the cause `not_allowed`;
   * admission rejects both earlier.
   */
  checkImage(tenant: TenantId, image: string, credentialVersion: number | undefined): Promise<ImageAnswer>
  /** The environment of a container, for the node that creates it, once per attempt. The promise never rejects. */
  sealEnvironment(ask: EnvironmentAsk): Promise<SealedAnswer>
  /** The current registry credential for a node's image pull. The promise never rejects. */
  sealCredential(ask: CredentialAsk): Promise<SealedAnswer>
}
