// What the server asks of the secrets store: writing for the API's identity, reading for the broker's alone.
// SAFETY 4a "OpenBao layout", DECISIONS 8. Outcomes are values; none of them carries text that came from the store.

import type { TenantId } from '@holdfast/contract'
import type { Secret } from './secret.ts'

/** Inside the tenant's own mount. A path outside the grammar is answered `denied` and never leaves the process. */
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
 * `applied: 'unknown'`: the answer to a write was lost, the store may or may not have taken it. The caller reads
 * currentVersion back and never guesses (SAFETY 4a step 6). Reads are always 'no'.
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
  /** The newest number ever given, destroyed or not: the `cas` of the next write. */
  readonly version: number
  /** Ascending; the store keeps the last thousand. */
  readonly versions: readonly SecretVersion[]
}

export interface SecretsStoreHealth {
  health(): Promise<Done | Unavailable>
}

/** The API's identity: it writes, counts and destroys, and reads no secret data. */
export interface SecretsWriter extends SecretsStoreHealth {
  /** Makes the tenant's mount and the broker's policy for it; safe to repeat and to run at the same time. */
  provisionTenant(tenant: TenantId): Promise<Done | Denied | Unavailable>
  /** Removes the mount with everything in it; safe to repeat. */
  removeTenant(tenant: TenantId): Promise<Done | Denied | Unavailable>
  /** A new version that holds exactly `document`. `cas` is the newest version known, 0 for a path never written. */
  writeVersion(
    tenant: TenantId,
    path: SecretPath,
    document: SecretDocument,
    cas: number,
  ): Promise<{ readonly kind: 'ok'; readonly version: number } | Conflict | Denied | Unavailable>
  /** Absent: nothing was ever written there. */
  currentVersion(tenant: TenantId, path: SecretPath): Promise<VersionList | Absent | Denied | Unavailable>
  /** Repeating it, or destroying what never was, is ok. */
  destroyVersion(tenant: TenantId, path: SecretPath, version: number): Promise<Done | Denied | Unavailable>
  /** Destroys every version; the numbering goes on, so that no number ever names two documents. */
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
