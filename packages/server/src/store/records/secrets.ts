// Secrets without their values: credentials, registry credentials, and writes to the secrets store that are in progress.

import {
  boolean,
  branded,
  type Consumer,
  type Infer,
  integer,
  list,
  type NodeId,
  nullable,
  object,
  oneOf,
  optional,
  ROLES,
  string,
  type TenantId,
  type TokenId,
  type VolumeId,
} from '@holdfast/contract'
import { globalCollection, tenantCollection, v } from './collection.ts'

/**
 * A credential without secret values: the namespace of its label, the workloads that refer to it,
 * its versions and its rotation. All of these share one key, so one compare covers them. The record
 * exists while it has a version or reference.
 */
export const storedCredentialShape = object({
  v,
  label: string(),
  namespace: string(),
  /** Sorted; the workloads that refer to the credential. */
  consumers: list(branded<Consumer>()),
  /** The versions of the credential that are not destroyed, in ascending order. */
  versions: list(
    object({
      version: integer(),
      keys: list(string()),
      createdAt: string(),
      /**
       * The time that the secrets store gave the version. A restored secrets store may give another document the same number;
       * its time is another one. Absent for versions of older servers, which are not compared.
       */
      storedAt: optional(string()),
      /** Upper bound of the document's size, in whole KiB so that it does not tell the length of a value. */
      bytes: optional(integer()),
    }),
  ),
  /** The first version of the credential, used by deployments that were created before the credential had a version. */
  initial: nullable(integer()),
  /** The number of the quota slot that the credential occupies; null until its first version is written. */
  slot: nullable(integer()),
  /** The rotation of the credential that is in progress; absent if there is none. */
  rotation: optional(
    object({
      phase: oneOf(['stage', 'overlap', 'cutover']),
      old: integer(),
      new: integer(),
      since: string(),
      /** The consumer that the rotation was requested for; its containers are replaced first. */
      startedBy: branded<Consumer>(),
      /** True while a cutover is being aborted; the abort ends when no container uses the new version. */
      aborting: optional(boolean()),
      /**
       * For each anchored volume with copies, a checkpoint that its primary took after every consumer had the new version,
       * and the nodes that have acknowledged it.
       */
      checkpoints: optional(
        list(
          object({
            volume: branded<VolumeId>(),
            epoch: integer(),
            number: integer(),
            acknowledged: list(branded<NodeId>()),
          }),
        ),
      ),
      /** The caller of the last rotation step; the deployment revisions that the rotation creates name this caller. */
      askedBy: optional(
        object({
          token: branded<TokenId>(),
          /** The name of the token; absent for rotations that an older server started. */
          tokenName: optional(string()),
          role: oneOf(ROLES),
          onBehalf: boolean(),
          requestId: string(),
        }),
      ),
    }),
  ),
})
export type StoredCredential = Infer<typeof storedCredentialShape>

/** A registry credential: only its host and current version number. The secret values are in the secrets store. */
export const registryCredentialShape = object({ v, host: string(), version: integer(), updatedAt: string() })

/**
 * A version of a secret that is being written to or destroyed in the secrets store;
 * operations/secrets/versions/intents.ts describes the states.
 */
export const intentShape = object({
  v,
  tenant: branded<TenantId>(),
  namespace: string(),
  resource: string(),
  version: integer(),
  createdAt: string(),
  /** True if the version may no longer be used by a deployment and must be destroyed. */
  pendingDestruction: optional(boolean()),
  /** The first intent of the group of versions that one request pins; abandoning one intent abandons the first. */
  leader: optional(string()),
})

/**
 * The HMAC key with which containers prove which secret versions they use. One key for the platform, generated once.
 */
export const proofKeyShape = object({ v, key: string() })

export const credentials = tenantCollection('cred', storedCredentialShape, true)
export const registryCredentials = tenantCollection('reg', registryCredentialShape, true)
export const intents = globalCollection('intent', intentShape)
export const proofKeys = globalCollection('proof', proofKeyShape)
