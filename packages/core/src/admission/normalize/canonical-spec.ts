// The text whose SHA-256 is specHash: the stored spec with sorted keys, including secretsVersion and members of a newer
// version. This package has no hash function, so the caller computes the hash from this text.

import { canonicalJson, type DeploymentSpec, showUnknown } from '@holdfast/contract'

export function canonicalSpec(spec: DeploymentSpec): string {
  return canonicalJson(showUnknown(spec))
}
