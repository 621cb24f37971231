// What the broker asks of an image registry: is there a manifest, and what is its digest. DECISIONS 3 image_required,
// SAFETY 2 rows 9-11. Three answers: only a registry that says so itself makes an image absent.

import type { Secret } from './secret.ts'

/** One registry that may be talked to. The list is exact: no wildcards, no suffixes. */
export interface RegistryEntry {
  /** `host` or `host:port` (443 without), as it stands in image references. */
  readonly host: string
  /** Where its API is, if elsewhere: docker.io is served by another name. Exact `host:port`. */
  readonly endpoint?: string
  readonly plainHttp?: boolean
  /** The host may be an address, and may resolve to one that is not public: loopback and private networks (development, lab, own premises). */
  readonly allowAddress?: boolean
  /** Exact `host:port` of token servers beside the registry's own host. They get the tenant's credential for this registry. */
  readonly tokenRealms?: readonly string[]
  /** PEM of the authority that signs its certificate; absent: the system's. */
  readonly ca?: string
}

export interface RegistryCredential {
  readonly username: string
  readonly password: Secret
}

export interface ManifestQuery {
  /** Canonical, from parseImageReference. */
  readonly host: string
  readonly repository: string
  /** A tag or a digest. */
  readonly reference: string
}

export const UNREACHABLE_CAUSES = [
  'not_allowed',
  'address_refused',
  'dns',
  'tls',
  'connection',
  'timeout',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'server_error',
  'redirect',
  'challenge_invalid',
  'realm_refused',
  'too_large',
  'digest_mismatch',
  'answer_invalid',
  /** Nobody could ask the registry for us. */
  'broker_unavailable',
] as const
export type UnreachableCause = (typeof UNREACHABLE_CAUSES)[number]

export type ManifestAnswer =
  | { readonly kind: 'exists'; readonly digest: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable'; readonly cause: UnreachableCause }

export interface Registry {
  checkManifest(query: ManifestQuery, credential?: RegistryCredential): Promise<ManifestAnswer>
  close(): void
}
