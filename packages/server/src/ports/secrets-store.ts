// The interface of the secrets store: writing with the API's identity, reading with the broker's identity only. Failures
// are returned and contain no text from the store, which might quote a secret. See docs/design/secrets.md#policies.

import type { TenantId } from '@holdfast/contract'
import type { Secret } from './secret.ts'

/** Path of a secret inside the tenant's own mount. An invalid path is `denied` without a call to the store. */
export type SecretPath =
  | { readonly namespace: string; readonly label: string }
  /** Host of the registry that a tenant's credential is for, as canonical `host:port`. */
  | { readonly registryHost: string }

export type SecretDocument = ReadonlyMap<string, Secret>

export type UnavailableCause =
  | 'timeout'
  | 'connection'
  | 'dns'
  | 'tls'
  | 'sealed'
  | 'rate_limited'
  | 'server_error'
  | 'login_refused'
  | 'mount_missing'
  | 'too_large'
  | 'answer_invalid'

/**
 * The secrets store did not answer. `applied: 'unknown'`: the store may or may not have applied a write; the caller reads
 * currentVersion to find out. For reads `applied` is always 'no'.
 */
export interface Unavailable {
  readonly kind: 'unavailable'
  readonly cause: UnavailableCause
  readonly applied: 'no' | 'unknown'
}
export interface Denied {
  readonly kind: 'denied'
}
export interface Absent {
  readonly kind: 'absent'
}
export interface Conflict {
  readonly kind: 'conflict'
}
export interface Done {
  readonly kind: 'ok'
}

/** A written version. `storedAt` is the time that the store gave it; undefined if the answer did not contain it. */
export interface Written {
  readonly kind: 'ok'
  readonly version: number
  readonly storedAt?: string
}
/** A version that was read, with the time that the store gave it when it was written. */
export interface ReadVersion {
  readonly kind: 'ok'
  readonly document: SecretDocument
  readonly storedAt?: string
}

export interface SecretVersion {
  readonly version: number
  readonly createdAt: string
  readonly destroyed: boolean
}
export interface VersionList {
  readonly kind: 'ok'
  /** The newest version number, destroyed or not. The next write must pass this number as `cas`. */
  readonly version: number
  /** The versions of the secret in ascending order; the store keeps the last thousand. */
  readonly versions: readonly SecretVersion[]
}

export interface SecretsStoreHealth {
  health(): Promise<Done | Unavailable>
}

/** Access with the API's identity: writes and destroys secret versions, lists version numbers, reads no secret data. */
export interface SecretsWriter extends SecretsStoreHealth {
  /** Creates the tenant's mount and the policy by which the broker reads it. Idempotent and safe to run concurrently. */
  provisionTenant(tenant: TenantId): Promise<Done | Denied | Unavailable>
  /** Removes the tenant's mount with everything in it. Idempotent. */
  removeTenant(tenant: TenantId): Promise<Done | Denied | Unavailable>
  /** Writes `document` as a new version of a secret. `cas` is the newest known version, 0 for an unused path. */
  writeVersion(
    tenant: TenantId,
    path: SecretPath,
    document: SecretDocument,
    cas: number,
  ): Promise<Written | Conflict | Denied | Unavailable>
  /**
   * Writes a new version: the newest one, which must be `cas`, with the keys of `document` added or replaced. The other
   * keys are copied inside the store. `absent`: the newest version was destroyed, or the path was never written.
   */
  patchVersion(
    tenant: TenantId,
    path: SecretPath,
    document: SecretDocument,
    cas: number,
  ): Promise<Written | Absent | Conflict | Denied | Unavailable>
  /** Returns the newest version and all versions of a secret; absent if the path was never written. */
  currentVersion(tenant: TenantId, path: SecretPath): Promise<VersionList | Absent | Denied | Unavailable>
  /** Destroys one version. Idempotent; succeeds for a version that does not exist. */
  destroyVersion(tenant: TenantId, path: SecretPath, version: number): Promise<Done | Denied | Unavailable>
  /** Destroys every version of a secret. Version numbers are not reused, so that a number never names two documents. */
  deleteAll(tenant: TenantId, path: SecretPath): Promise<Done | Denied | Unavailable>
}

/** Access with the broker's identity: reads one tenant at a time. `absent`: a version never written or destroyed. */
export interface SecretsReader extends SecretsStoreHealth {
  readVersion(
    tenant: TenantId,
    path: SecretPath,
    version: number,
  ): Promise<ReadVersion | Absent | Denied | Unavailable>
}
