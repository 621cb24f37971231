// The text that specHash is the SHA-256 of: the stored spec, secretsVersion included, keys sorted. DECISIONS 4.
// Hashing itself is done where a hash function is at hand; this package has none.

import { canonicalJson, type DeploymentSpec } from '@holdfast/contract'

export function canonicalSpec(spec: DeploymentSpec): string {
  return canonicalJson(spec)
}
