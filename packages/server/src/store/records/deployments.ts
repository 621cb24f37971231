// Deployments: the record of each, its archived revisions, the routes it owns, and deletions under way.

import {
  archiveEntryShape,
  boolean,
  branded,
  type DeploymentUid,
  deploymentSpecShape,
  type Infer,
  integer,
  map,
  nullable,
  object,
  optional,
  string,
  type TenantId,
  type TransactionId,
} from '@holdfast/contract'
import { globalCollection, tenantCollection, v } from './collection.ts'

export const storedDeploymentShape = object({
  v,
  uid: branded<DeploymentUid>(),
  spec: deploymentSpecShape,
  revision: integer(),
  specHash: string(),
  createdAt: string(),
  updatedAt: string(),
  /** The image's digest as the registry resolved it; null until that succeeds. */
  digest: nullable(string()),
  /** The quota slot that this record occupies. */
  slot: integer(),
  tx: branded<TransactionId>(),
  deleting: boolean(),
  /** The revision of the last restart, if there was one; a part of the container template. */
  restartRevision: optional(integer()),
  /**
   * The version of each credential that the containers use, by label. A path that had no version at the last decision
   * has no pin and uses the credential's initial version.
   */
  pins: optional(map(integer())),
})
export type StoredDeployment = Infer<typeof storedDeploymentShape>

/** Which deployment of the tenant owns a host and path. The key is a hash of both. */
export const routeClaimShape = object({
  v,
  host: string(),
  path: string(),
  deployment: branded<DeploymentUid>(),
  name: string(),
})

export const storedArchiveShape = object({ v, ...archiveEntryShape.fields, tx: branded<TransactionId>() })

/** A deletion that a loop must finish; `name` is the deployment's, or null for a whole tenant. */
export const removalShape = object({ v, tenant: branded<TenantId>(), name: nullable(string()) })

export const deployments = tenantCollection('dep', storedDeploymentShape, true)
export const routeClaims = tenantCollection('route', routeClaimShape, true)
export const archive = tenantCollection('arc', storedArchiveShape, false)
export const removals = globalCollection('removal', removalShape)
