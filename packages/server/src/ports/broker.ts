// What is asked of the broker, the one role that reads secret data. Credentials come out for one purpose only: sealed to
// the node that is about to pull. DECISIONS 8.

import type { TenantId } from '@holdfast/contract'
import type { ManifestAnswer, RegistryCredential } from './registry.ts'

/** Credentials did not answer: registry_credential_store_unavailable. */
export type ImageAnswer = ManifestAnswer | { readonly kind: 'credentials_unavailable' }

export interface Broker {
  /**
   * Asks the registry for the exact reference, with the tenant's credential for that registry at the pinned version, or
   * anonymously where the tenant has none. A text outside the grammar, or a registry that is not on the list, is
   * unreachable with the cause `not_allowed`; admission has refused both before.
   */
  checkImage(tenant: TenantId, image: string, credentialVersion: number | undefined): Promise<ImageAnswer>
  /** For a node's pull, at the pinned version. Rejects where the secrets store does not answer. */
  readCredential(tenant: TenantId, host: string, version: number): Promise<RegistryCredential>
}
