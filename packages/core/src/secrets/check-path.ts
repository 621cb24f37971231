// Checks the path parameters of PUT and DELETE /secrets/{namespace}/{resource} by the rules of a vault_path.

import type { Rejection } from '@holdfast/contract'
import { reject } from '../reject.ts'
import { isCredentialLabel } from './vault-path.ts'

/** `bound` is the namespace that the label is bound to in this tenant, if it is. Returns at most one rejection. */
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
