// Material of a write, which only the secrets store keeps: values, and how to generate more.

import type { SecretCharset, SecretEncoding } from '@holdfast/contract'

/** Valid and complete: defaults are filled in. */
export type GeneratePlan =
  | { readonly keys: readonly string[]; readonly bytes: number; readonly encoding: SecretEncoding }
  | { readonly keys: readonly string[]; readonly length: number; readonly charset: SecretCharset }

/** Material that one write brings for one credential. Keys of `values` and of `generate` differ. */
export interface SentMaterial {
  readonly namespace: string
  readonly label: string
  readonly values: ReadonlyMap<string, string>
  readonly generate?: GeneratePlan
}
