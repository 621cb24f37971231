// The interface of the secrets store: writing with the API's identity, reading with the broker's identity only. Failures are
// values and contain no text from the store, which might quote a secret. See docs/design/secrets.md#policies.

import type { TenantId } from '@holdfast/contract'
import type { Secret } from './secret.ts'

/** A path inside the tenant's own mount. An invalid path is `denied` without a call to the store. */
export type SecretPath =
  | { readonly namespace: string; readonly label: string }
  /** The tenant's credential for one registry, as canonical `host:port`. */
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
 * `applied: 'unknown'`: the response to a write was lost, and the store may or may not have applied it. The caller reads
 * currentVersion to find out. Reads are always 'no'.
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

export interface SecretVersion {
  readonly version: number
  readonly createdAt: string
  readonly destroyed: boolean
}
export interface VersionList {
  readonly kind: 'ok'
  /** The newest version number, destroyed or not: the `cas` of the next write. */
  readonly version: number
  /** Ascending; the store keeps the last thousand. */
  readonly versions: readonly SecretVersion[]
}

export interface SecretsStoreHealth {
  health(): Promise<Done | Unavailable>
}

/** The API's identity: it writes and destroys versions and lists their numbers, but reads no secret data. */
export interface SecretsWriter extends SecretsStoreHealth {
  /** Creates the tenant's mount and the broker's policy for it. Idempotent and safe to run concurrently. */
  provisionTenant(tenant: TenantId): Promise<Done | Denied | Unavailable>
  /** Removes the mount with everything in it. Idempotent. */
  removeTenant(tenant: TenantId): Promise<Done | Denied | Unavailable>
  /** Writes a new version with exactly `document`. `cas` is the newest known version, 0 for an unused path. */
  writeVersion(
    tenant: TenantId,
    path: SecretPath,
    document: SecretDocument,
    cas: number,
  ): Promise<{ readonly kind: 'ok'; readonly version: number } | Conflict | Denied | Unavailable>
  /** Absent: the path was never written. */
  currentVersion(tenant: TenantId, path: SecretPath): Promise<VersionList | Absent | Denied | Unavailable>
  /** Idempotent; a version that does not exist is ok too. */
  destroyVersion(tenant: TenantId, path: SecretPath, version: number): Promise<Done | Denied | Unavailable>
  /** Destroys every version. The numbering continues, so that a number never names two documents. */
  deleteAll(tenant: TenantId, path: SecretPath): Promise<Done | Denied | Unavailable>
}

/** The broker's identity: reads one tenant at a time. Absent: never written, or destroyed. */
export interface SecretsReader extends SecretsStoreHealth {
  readVersion(
    tenant: TenantId,
    path: SecretPath,
    version: number,
  ): Promise<{ readonly kind: 'ok'; readonly document: SecretDocument } | Absent | Denied | Unavailable>
}
