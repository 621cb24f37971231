// The port through which a server renews the secret ids with which it logs in to the secrets store.

import type { Secret } from './secret.ts'
import type { Denied, Done, Unavailable } from './secrets-store.ts'

/** `process`: one process alone has the secret id, so it may destroy it. An operator may have given one to several. */
export type SecretIdOwner = 'process' | 'operator'

export interface SecretIdFacts {
  readonly kind: 'found'
  readonly createdAtMs: number
  /** Undefined if the secret id never expires. */
  readonly expiresAtMs: number | undefined
  readonly owner: SecretIdOwner
}

/** `absent`: expired, destroyed or never issued. */
export type SecretIdLookUp = SecretIdFacts | { readonly kind: 'absent' } | Denied | Unavailable

export interface IssuedSecretId {
  readonly kind: 'issued'
  readonly secretId: Secret
}

/** Calls of the secrets store after a login with one secret id. */
export interface SecretIdCalls {
  lookUp(secretId: Secret): Promise<SecretIdLookUp>
  issue(): Promise<IssuedSecretId | Denied | Unavailable>
  destroy(secretId: Secret): Promise<Done | Denied | Unavailable>
}
