// Checks the path parameters of PUT and DELETE /secrets/{namespace}/{resource} by the rules for a vault_path.

import type { Rejection } from '@holdfast/contract'
import { reject } from '../reject.ts'
import { isCredentialLabel } from './vault-path.ts'

/** Checks a secret path. `bound` is the namespace that already owns the label in this tenant. At most one rejection. */
export function checkSecretPath(
  namespace: string,
  label: string,
  namespaces: readonly string[],
  bound = namespace,
): Rejection[] {
  if (label === '' || label.includes('/')) return [reject('secret_path_shape', 'resource', label)]
  if (!namespaces.includes(namespace)) {
    return [reject('secret_path_namespace', 'namespace', namespace, { namespaces: namespaces.join(', ') })]
  }
  if (!isCredentialLabel(label)) return [reject('secret_path_name', 'resource', label)]
  if (bound === namespace) return []
  return [reject('secret_path_namespace_split', 'namespace', namespace, { namespace: bound, label })]
}
