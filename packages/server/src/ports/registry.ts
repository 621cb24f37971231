// The interface of an image registry: whether a manifest exists, and its digest. An image is absent only if the registry
// itself reports that; every other failure is `unreachable`. See docs/design/admission.md#image-checks.

import type { Secret } from './secret.ts'

/** One allowed registry. Hosts match exactly: no wildcards, no suffixes. */
export interface RegistryEntry {
  /** Host of the registry: `host` or `host:port` (default port 443), in the form of image references. */
  readonly host: string
  /** `host:port` of the registry's API, if different from `host`, as for docker.io. */
  readonly endpoint?: string
  readonly plainHttp?: boolean
  /** If true, the host may be an IP address and may resolve to a loopback or private address. */
  readonly allowAddress?: boolean
  /** `host:port` of token servers other than the registry. They receive the tenant's credential for the registry. */
  readonly tokenRealms?: readonly string[]
  /** PEM of the authority that signs the registry's certificate; default: the system's authorities. */
  readonly ca?: string
}

export interface RegistryCredential {
  readonly username: string
  readonly password: Secret
}

export interface ManifestQuery {
  /** Canonical host of the registry, from parseImageReference. */
  readonly host: string
  readonly repository: string
  /** The tag or digest of the image. */
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
  /** No broker responded, so the registry was not asked. */
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
