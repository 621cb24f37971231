// Builds the path of a secret in the store. Every part must match its grammar completely; nothing is decoded, trimmed or
// repaired, and the mount depends on the tenant alone. Parts are checked here even if the caller has checked them before.

import { isTenantId, type TenantId } from '@holdfast/contract'
import { isCredentialLabel, parseRegistryHost } from '@holdfast/core'
import type { SecretPath } from '../../ports/secrets-store.ts'

/** The platform's namespace for registry credentials. Deployments may not reference secrets in this namespace. */
export const REGISTRIES = 'registries'

/** Returns the configured namespaces if they are valid. A reserved or invalid namespace is a configuration error. */
export function requireNamespaces(namespaces: readonly string[]): readonly string[] {
  for (const namespace of namespaces) {
    if (!isCredentialLabel(namespace) || namespace === REGISTRIES) {
      throw new TypeError(`secret namespace ${JSON.stringify(namespace)} cannot be granted`)
    }
  }
  return [...new Set(namespaces)]
}

export function mountOf(tenant: TenantId): string | undefined {
  return isTenantId(tenant) ? `kv-${tenant}` : undefined
}

/** Returns `kv-<tenant>/<area>/<namespace>/<label>`, or undefined if a part is invalid or the namespace not granted. */
export function storePath(
  tenant: TenantId,
  area: 'data' | 'metadata' | 'destroy',
  path: SecretPath,
  granted: readonly string[],
): string | undefined {
  const mount = mountOf(tenant)
  const inside = 'registryHost' in path ? registryPath(path.registryHost) : secretPath(path, granted)
  return mount === undefined || inside === undefined ? undefined : `${mount}/${area}/${inside}`
}

function secretPath(
  path: { namespace: string; label: string },
  granted: readonly string[],
): string | undefined {
  const isValid = granted.includes(path.namespace) && isCredentialLabel(path.label)
  return isValid ? `${path.namespace}/${path.label}` : undefined
}

/**
 * Turns a canonical `host:port` into one path segment: removes brackets and turns each `:` into `_`, which no host
 * contains. Two hosts never share a segment: that of a name has exactly one `_`, that of an IPv6 address at least three.
 */
export function registryPath(host: string): string | undefined {
  if (parseRegistryHost(host) !== host) return undefined
  return `${REGISTRIES}/${host.replace(/[[\]]/g, '').replaceAll(':', '_')}`
}
