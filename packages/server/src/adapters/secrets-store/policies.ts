// What each identity may do in the store, as policy text (JSON, which the store's language contains). "OpenBao
// layout", row 26: the API's identity reads no secret data, the broker's reads one tenant at a time.

import type { TenantId } from '@holdfast/contract'
import { mountOf, REGISTRIES, requireNamespaces } from './secret-path.ts'

export const API_IDENTITY = 'holdfast-api'
export const BROKER_IDENTITY = 'holdfast-broker'
export const BROKER_POLICY_PREFIX = 'broker-'

interface Rule {
  readonly capabilities: readonly string[]
  readonly allowed_parameters?: { readonly [name: string]: readonly string[] }
}
type Rules = { readonly [path: string]: Rule }

const OWN_TOKEN: Rules = {
  'auth/token/renew-self': { capabilities: ['update'] },
  'auth/token/revoke-self': { capabilities: ['update'] },
}

/**
 * NOTE a policy's `+` stands for a whole segment, so `kv-+` cannot be said: the rules hold for every mount of the
 * store's namespace. What they allow elsewhere is a write to a path of the same shape, never a read. Unmounting is
 * allowed because removing a tenant removes its material; it is no more than destroying each version, allowed anyway.
 */
export function apiPolicy(granted: readonly string[]): string {
  const rules: { [path: string]: Rule } = {
    ...OWN_TOKEN,
    'sys/mounts/kv-*': {
      capabilities: ['create', 'update', 'read', 'delete'],
      allowed_parameters: { type: ['kv'], options: [] },
    },
    '+/config': {
      capabilities: ['create', 'update'],
      allowed_parameters: { max_versions: [], cas_required: [] },
    },
    [`sys/policies/acl/${BROKER_POLICY_PREFIX}*`]: { capabilities: ['create', 'update', 'delete'] },
  }
  for (const namespace of [...requireNamespaces(granted), REGISTRIES]) {
    rules[`+/data/${namespace}/*`] = { capabilities: ['create', 'update'] }
    rules[`+/metadata/${namespace}/*`] = { capabilities: ['read'] }
    rules[`+/destroy/${namespace}/*`] = { capabilities: ['create', 'update'] }
  }
  return policyText(rules)
}

/** It mints children for tenants by the token role and can do nothing else. */
export function brokerPolicy(): string {
  return policyText({
    ...OWN_TOKEN,
    [`auth/token/create/${BROKER_IDENTITY}`]: { capabilities: ['create', 'update'] },
  })
}

export function tenantPolicyName(tenant: TenantId): string {
  return `${BROKER_POLICY_PREFIX}${tenant}`
}

/** What a child token for this tenant reads: the granted namespaces and the registry credentials of its one mount. */
export function tenantPolicy(tenant: TenantId, granted: readonly string[]): string {
  const mount = mountOf(tenant)
  if (mount === undefined) throw new TypeError('a tenant id is a UUID')
  const namespaces = [...requireNamespaces(granted), REGISTRIES]
  const rules = namespaces.map((name) => [`${mount}/data/${name}/*`, { capabilities: ['read'] }] as const)
  return policyText(Object.fromEntries(rules))
}

function policyText(rules: Rules): string {
  return JSON.stringify({ path: rules })
}
