// The secret values that a write request sends or asks to generate. Only the secrets store keeps these values.

import type { SecretCharset, SecretEncoding } from '@holdfast/contract'

/** How to generate secret values: a valid `generate` block with all defaults filled in. */
export type GeneratePlan =
  | { readonly keys: readonly string[]; readonly bytes: number; readonly encoding: SecretEncoding }
  | { readonly keys: readonly string[]; readonly length: number; readonly charset: SecretCharset }

/** The secret values that one write sends for one credential. A key is in `values` or in `generate`, never in both. */
export interface SentMaterial {
  readonly namespace: string
  readonly label: string
  readonly values: ReadonlyMap<string, string>
  readonly generate?: GeneratePlan
}
