// Where a secret lies in the store. The path is built from parts that match a whole-string grammar; nothing is
// decoded, trimmed or repaired, and the mount comes from the tenant alone. Whoever asks, this file judges again.

import { isTenantId, type TenantId } from '@holdfast/contract'
import { isCredentialLabel, parseRegistryHost } from '@holdfast/core'
import type { SecretPath } from '../../ports/secrets-store.ts'

/** Ours: registry credentials. No deployment may reference it. */
export const REGISTRIES = 'registries'

/** The list that validator, policies and client share. A namespace that is ours or no label is a fault of configuration. */
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
  const sound = granted.includes(path.namespace) && isCredentialLabel(path.label)
  return sound ? `${path.namespace}/${path.label}` : undefined
}

/**
 * One segment for one canonical `host:port`: brackets go, each `:` becomes `_`, which no host contains. Injective: a
 * name has exactly one `_` then, an IPv6 address at least three, and the last one always stands before the port.
 */
export function registryPath(host: string): string | undefined {
  if (parseRegistryHost(host) !== host) return undefined
  return `${REGISTRIES}/${host.replace(/[[\]]/g, '').replaceAll(':', '_')}`
}
