// Secrets without their material: credentials, registry credentials, and writes to the secrets store under way.

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
 * A credential without its material: the namespace of its label, the deployments that refer to it, its versions and its
 * rotation. They share one key, so one compare covers them all. The record exists while it has a version or a reference.
 */
export const storedCredentialShape = object({
  v,
  label: string(),
  namespace: string(),
  /** Sorted names of deployments. */
  consumers: list(string()),
  /** Versions that are not destroyed, ascending. */
  versions: list(object({ version: integer(), keys: list(string()), createdAt: string() })),
  /** The first version; a deployment that was admitted before it uses it. */
  initial: nullable(integer()),
  /** The quota slot, held from the first version on. */
  slot: nullable(integer()),
  /** Absent while no rotation is under way. */
  rotation: optional(
    object({
      phase: oneOf(['stage', 'overlap', 'cutover']),
      old: integer(),
      new: integer(),
      since: string(),
      /** The name of the deployment that the rotation was requested for; its containers are replaced first. */
      startedBy: string(),
      /** A cutover that is being aborted; it ends when no container uses the new version. */
      aborting: optional(boolean()),
      /** The caller of the last step; revisions of the other consumers are recorded under this caller. */
      askedBy: optional(
        object({ token: branded<TokenId>(), role: oneOf(ROLES), onBehalf: boolean(), requestId: string() }),
      ),
    }),
  ),
})
export type StoredCredential = Infer<typeof storedCredentialShape>

/** The version of a registry credential that is in use; the credential itself is in the secrets store. */
export const registryCredentialShape = object({ v, host: string(), version: integer(), updatedAt: string() })

/** A version number on its way into or out of the secrets store; operations/secrets/versions/intents.ts draws its states. */
export const intentShape = object({
  v,
  tenant: branded<TenantId>(),
  namespace: string(),
  resource: string(),
  version: integer(),
  createdAt: string(),
  /** The version can no longer be pinned and must be destroyed. */
  pendingDestruction: optional(boolean()),
  /** The first intent of a group that is pinned together; abandoning any of them abandons the leader. */
  leader: optional(string()),
})

/** The key with which containers prove their secret versions. One fixed key, generated at its first use. */
export const proofKeyShape = object({ v, key: string() })

export const credentials = tenantCollection('cred', storedCredentialShape, true)
export const registryCredentials = tenantCollection('reg', registryCredentialShape, true)
export const intents = globalCollection('intent', intentShape)
export const proofKeys = globalCollection('proof', proofKeyShape)
