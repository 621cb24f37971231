// The path parameters of PUT and DELETE /secrets/{namespace}/{resource}: the rules on a vault_path, with the parameter as the
// field. DECISIONS 3.

import type { Rejection } from '@holdfast/contract'
import { reject } from '../reject.ts'
import { isCredentialLabel } from './vault-path.ts'

/** `bound`: the namespace that the label is bound to in this tenant, where it is bound. At most one rejection, the first. */
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
