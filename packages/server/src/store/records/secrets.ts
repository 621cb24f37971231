// Secrets without their values: credentials, registry credentials, and writes to the secrets store that are in progress.

import {
  boolean,
  branded,
  type Infer,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  ROLES,
  string,
  type TenantId,
  type TokenId,
} from '@holdfast/contract'
import { globalCollection, tenantCollection, v } from './collection.ts'

/**
 * A credential without secret values: the namespace of its label, the deployments that refer to it,
 * its versions and its rotation. All of these share one key, so one compare covers them. The record
 * exists while it has a version or reference.
 */
export const storedCredentialShape = object({
  v,
  label: string(),
  namespace: string(),
  /** Sorted names of the deployments that refer to the credential. */
  consumers: list(string()),
  /** Versions that are not destroyed, in ascending order. */
  versions: list(object({ version: integer(), keys: list(string()), createdAt: string() })),
  /** The first version of the credential, used by deployments that were created before the credential had a version. */
  initial: nullable(integer()),
  /** The quota slot of the credential, held since its first version; null before. */
  slot: nullable(integer()),
  /** The rotation in progress; absent if there is none. */
  rotation: optional(
    object({
      phase: oneOf(['stage', 'overlap', 'cutover']),
      old: integer(),
      new: integer(),
      since: string(),
      /** The name of the deployment that the rotation was requested for; its containers are replaced first. */
      startedBy: string(),
      /** True while a cutover is being aborted; the abort ends when no container uses the new version. */
      aborting: optional(boolean()),
      /** The caller of the last rotation step; revisions of the other consumers are recorded under this caller. */
      askedBy: optional(
        object({ token: branded<TokenId>(), role: oneOf(ROLES), onBehalf: boolean(), requestId: string() }),
      ),
    }),
  ),
})
export type StoredCredential = Infer<typeof storedCredentialShape>

/** The version number of a registry credential in use; the credential itself is in the secrets store. */
export const registryCredentialShape = object({ v, host: string(), version: integer(), updatedAt: string() })

/**
 * A version being written to or destroyed in the secrets store; operations/secrets/versions/intents.ts
 * describes the states.
 */
export const intentShape = object({
  v,
  tenant: branded<TenantId>(),
  namespace: string(),
  resource: string(),
  version: integer(),
  createdAt: string(),
  /** True if the version can no longer be pinned and must be destroyed. */
  pendingDestruction: optional(boolean()),
  /** The first intent of a group of versions that are pinned together; abandoning any of the group abandons the first. */
  leader: optional(string()),
})

/**
 * The HMAC key with which containers prove their secret versions. There is one for the platform, generated at first use.
 */
export const proofKeyShape = object({ v, key: string() })

export const credentials = tenantCollection('cred', storedCredentialShape, true)
export const registryCredentials = tenantCollection('reg', registryCredentialShape, true)
export const intents = globalCollection('intent', intentShape)
export const proofKeys = globalCollection('proof', proofKeyShape)
