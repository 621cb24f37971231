// What is asked of the broker, the one role that reads secret material, and what it answers: never the material itself, but
// what only one node can open. DECISIONS 8. The shapes are those of the way between two processes too.

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

/** Credentials did not answer: registry_credential_store_unavailable. */
export type ImageAnswer = ManifestAnswer | { readonly kind: 'credentials_unavailable' }

export const imageAskShape = object({
  tenant: branded<TenantId>(),
  image: string(),
  /** Absent: anonymously. */
  credentialVersion: optional(integer()),
})

/** An assignment and the node that says it has it; whether that is so, the broker looks up itself. */
const assignedShape = object({
  tenant: branded<TenantId>(),
  nodeId: branded<NodeId>(),
  deployment: branded<DeploymentUid>(),
  assignmentId: branded<AssignmentId>(),
})
export type Assigned = Infer<typeof assignedShape>

export const environmentAskShape = object({ ...assignedShape.fields, attempt: string() })
export type EnvironmentAsk = Infer<typeof environmentAskShape>

/** For the image of that assignment. */
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
  /** Sealed to the node's key. */
  sealed: optional(string()),
  error: optional(oneOf(BROKER_ERRORS)),
  /** Of `secret_unresolved`: which entry and why, in words of ours. */
  about: optional(string()),
})
/** With neither of both there is nothing to give: the tenant keeps no credential for the host. */
export type SealedAnswer = Infer<typeof sealedAnswerShape>

export interface Broker {
  /**
   * Asks the registry for the exact reference, with the tenant's credential for that registry at the pinned version, or
   * anonymously where the tenant has none. A text outside the grammar, or a registry that is not on the list, is
   * unreachable with the cause `not_allowed`; admission has refused both before.
   */
  checkImage(tenant: TenantId, image: string, credentialVersion: number | undefined): Promise<ImageAnswer>
  /** What a container is made with, for the node that makes it, once for each attempt. Never rejects. */
  sealEnvironment(ask: EnvironmentAsk): Promise<SealedAnswer>
  /** For a node's pull, at the version that counts. Never rejects. */
  sealCredential(ask: CredentialAsk): Promise<SealedAnswer>
}
