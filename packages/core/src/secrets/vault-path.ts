// Parses a vault_path: a granted namespace and a DNS label, in the tenant's own mount. The path is never decoded;
// clients of the store build their path from these two parts.

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

/** The first fault in the order of the codes. */
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

/** The parts of a valid path; for an invalid one its first two segments. */
export function credentialPath(path: string): CredentialPath {
  const [namespace = '', label = ''] = path.split('/')
  return { namespace, label }
}
