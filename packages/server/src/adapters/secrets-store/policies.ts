// The policies of the two identities, API and broker, in the secrets store, as JSON. The API's identity reads no secret
// data; the broker's identity reads one tenant at a time. See docs/design/secrets.md#policies.

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
 * An identity may issue a secret id of its own AppRole, and look up and destroy a secret id whose value it knows. It cannot list
 * the secret ids of other processes.
 */
function ownSecretIds(identity: string): Rules {
  const role = `auth/approle/role/${identity}`
  return {
    [`${role}/secret-id`]: { capabilities: ['create', 'update'] },
    [`${role}/secret-id/lookup`]: { capabilities: ['create', 'update'] },
    [`${role}/secret-id/destroy`]: { capabilities: ['create', 'update'] },
  }
}

/**
 * The API's policy. The wildcard `+` matches a complete path segment, so `kv-+` is impossible and the rules apply to
 * every mount in the store's namespace, even of other applications; they allow writes there, but never reads of secret
 * data. Deleting a mount is allowed, because the removal of a tenant removes the tenant's secret values.
 */
export function apiPolicy(granted: readonly string[]): string {
  const rules: { [path: string]: Rule } = {
    ...OWN_TOKEN,
    ...ownSecretIds(API_IDENTITY),
    'sys/mounts/kv-*': {
      capabilities: ['create', 'update', 'read', 'delete'],
      allowed_parameters: { type: ['kv'], options: [] },
    },
    '+/config': {
      capabilities: ['create', 'update'],
      allowed_parameters: { max_versions: [], cas_required: [] },
    },
    [`sys/policies/acl/${BROKER_POLICY_PREFIX}*`]: { capabilities: ['create', 'update', 'delete'] },
    // Names and addresses of the members, for the doctor and for setup.
    'sys/storage/raft/configuration': { capabilities: ['read'] },
  }
  for (const namespace of [...requireNamespaces(granted), REGISTRIES]) {
    // A patch adds keys to the newest version inside the store; like a write, it returns no value.
    const patch = namespace === REGISTRIES ? [] : ['patch']
    rules[`+/data/${namespace}/*`] = { capabilities: ['create', 'update', ...patch] }
    rules[`+/metadata/${namespace}/*`] = { capabilities: ['read'] }
    rules[`+/destroy/${namespace}/*`] = { capabilities: ['create', 'update'] }
  }
  return policyText(rules)
}

/** The broker's policy: beyond its own token and secret ids, it allows only the creation of tenant tokens through the token role. */
export function brokerPolicy(): string {
  return policyText({
    ...OWN_TOKEN,
    ...ownSecretIds(BROKER_IDENTITY),
    [`auth/token/create/${BROKER_IDENTITY}`]: { capabilities: ['create', 'update'] },
  })
}

export function tenantPolicyName(tenant: TenantId): string {
  return `${BROKER_POLICY_PREFIX}${tenant}`
}

/** The policy of a tenant token, which reads the granted namespaces and registry credentials in one tenant's mount. */
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
