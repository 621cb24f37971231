// What comes with a write and is never stored beside the secrets store: values, and how to make some. SPEC 2.4, 2.5.

import type { SecretCharset, SecretEncoding } from '@holdfast/contract'

/** Sound and complete: defaults are filled in. */
export type GeneratePlan =
  | { readonly keys: readonly string[]; readonly bytes: number; readonly encoding: SecretEncoding }
  | { readonly keys: readonly string[]; readonly length: number; readonly charset: SecretCharset }

/** What one write gives to one credential: keys of `values` and of `generate` differ. */
export interface SentMaterial {
  readonly namespace: string
  readonly label: string
  readonly values: ReadonlyMap<string, string>
  readonly generate?: GeneratePlan
}
