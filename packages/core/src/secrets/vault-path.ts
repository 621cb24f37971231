// Parses a vault_path: a granted namespace and a DNS label, in the tenant's own mount. The path is never URL-decoded;
// requests to the secrets store are built from these two parts.

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

export interface CredentialPath {
  readonly namespace: string
  readonly label: string
}

export type PathFault =
  | 'secret_vault_path_not_relative'
  | 'secret_path_shape'
  | 'secret_path_namespace'
  | 'secret_path_name'

/** The first fault of a vault_path, in the order of the error codes. */
export function faultOfPath(path: string, namespaces: readonly string[]): PathFault | undefined {
  const [namespace = '', label = '', ...more] = path.split('/')
  if (path.startsWith('/') || isOutward(path)) return 'secret_vault_path_not_relative'
  if (namespace === '' || label === '' || more.length > 0) return 'secret_path_shape'
  if (!namespaces.includes(namespace)) return 'secret_path_namespace'
  return isCredentialLabel(label) ? undefined : 'secret_path_name'
}

const isOutward = (path: string): boolean => path.split('/').includes('..')

export function isCredentialLabel(text: string): boolean {
  return LABEL.test(text)
}

/** Namespace and label of a valid vault_path; for an invalid path, its first two segments. */
export function credentialPath(path: string): CredentialPath {
  const [namespace = '', label = ''] = path.split('/')
  return { namespace, label }
}
