// Builds the path of a secret in the store. Every part must match its grammar completely; nothing is decoded, trimmed or
// repaired, and the mount depends on the tenant alone. Parts are checked here again, whatever the caller has checked.

import { isTenantId, type TenantId } from '@holdfast/contract'
import { isCredentialLabel, parseRegistryHost } from '@holdfast/core'
import type { SecretPath } from '../../ports/secrets-store.ts'

/** The platform's namespace for registry credentials. Deployments may not reference it. */
export const REGISTRIES = 'registries'

/** The namespaces for rules, policies and client. A reserved or invalid one is a configuration error. */
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

/** `kv-<tenant>/<area>/<namespace>/<label>`, or undefined for anything outside the grammar or the granted list. */
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
 * One segment for a canonical `host:port`: brackets are removed and each `:` becomes `_`, which no host contains. Two hosts
 * never share a segment: a name has exactly one `_`, an IPv6 address at least three, and the last one precedes the port.
 */
export function registryPath(host: string): string | undefined {
  if (parseRegistryHost(host) !== host) return undefined
  return `${REGISTRIES}/${host.replace(/[[\]]/g, '').replaceAll(':', '_')}`
}
