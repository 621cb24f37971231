// Deployments: the record of each deployment, its archived revisions, the routes it owns, and deletions in progress.

import {
  archiveEntryShape,
  boolean,
  branded,
  canaryShape,
  type DeploymentUid,
  deploymentSpecShape,
  type Infer,
  integer,
  map,
  nullable,
  object,
  optional,
  scalingPolicyShape,
  string,
  type TenantId,
  type TransactionId,
} from '@holdfast/contract'
import { globalCollection, tenantCollection, v } from './collection.ts'

/** A scaling policy and its present result, written only when one of them changes. */
export const storedScalingShape = object({
  policy: scalingPolicyShape,
  /** How often the policy was written. */
  revision: integer(),
  createdAt: string(),
  updatedAt: string(),
  /** The number of replicas that the policy desires; used unless the spec has 0 replicas. */
  desired: integer(),
  /** When the policy last changed the number; absent if it never did. */
  scaledAt: optional(string()),
})
export type StoredScaling = Infer<typeof storedScalingShape>

/** A canary: its state, and what its replicas are created from beside the spec of the deployment. */
export const storedCanaryShape = object({
  ...canaryShape.fields,
  startedAt: string(),
  /** The digest of the canary's image; null if no registry had resolved it at the start. */
  digest: nullable(string()),
  /** The pinned versions that differ from those of the deployment, by label. */
  pins: optional(map(integer())),
})
export type StoredCanary = Infer<typeof storedCanaryShape>

export const storedDeploymentShape = object({
  v,
  uid: branded<DeploymentUid>(),
  spec: deploymentSpecShape,
  revision: integer(),
  specHash: string(),
  createdAt: string(),
  updatedAt: string(),
  /** The image's digest in the registry; null until the registry has reported the digest. */
  digest: nullable(string()),
  /** The number of the quota slot that the deployment occupies. */
  slot: integer(),
  tx: branded<TransactionId>(),
  deleting: boolean(),
  /** The revision of the last restart, if any. It is part of the container template, so a restart replaces containers. */
  restartRevision: optional(integer()),
  /**
   * The pinned version of each credential that the containers use, by label. A credential that had no version when the
   * deployment was written has no pin; the containers then use the credential's initial version.
   */
  pins: optional(map(integer())),
  /** The scaling policy; absent without one. */
  scaling: optional(storedScalingShape),
  /** The canary that runs, or the last one of this revision; absent if there was none. */
  canary: optional(storedCanaryShape),
})
export type StoredDeployment = Infer<typeof storedDeploymentShape>

/** The claim of a deployment on a route, which is a host and path. The key of the record is a hash of both. */
export const routeClaimShape = object({
  v,
  host: string(),
  path: string(),
  deployment: branded<DeploymentUid>(),
  name: string(),
})

export const storedArchiveShape = object({ v, ...archiveEntryShape.fields, tx: branded<TransactionId>() })

/** A deletion that a loop must finish; `name` is the name of the deployment, or null for the deletion of a tenant. */
export const removalShape = object({ v, tenant: branded<TenantId>(), name: nullable(string()) })

export const deployments = tenantCollection('dep', storedDeploymentShape, true)
export const routeClaims = tenantCollection('route', routeClaimShape, true)
export const archive = tenantCollection('arc', storedArchiveShape, false)
export const removals = globalCollection('removal', removalShape)
