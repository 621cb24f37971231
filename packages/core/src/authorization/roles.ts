// The role table: which role may perform which action (docs/design/api.md#roles). The caller's tenant is checked
// elsewhere.

import { ROLES, type Role } from '@holdfast/contract'

/** Read actions that every role may perform in its own tenant. */
const READS = [
  'deployments:read',
  'jobs:read',
  'networks:read',
  'volumes:read',
  'nodes:read',
  'backups:read',
  'archives:read',
  'events:read',
  'audit:read',
  'quotas:read',
  'registries:read',
  'scheduler:read',
  'tenants:read',
  'tokens:read',
  /** Permission to read secret paths and versions. Reading key names needs secrets:read-keys. */
  'secrets:read',
] as const

const WORKLOAD_WRITES = [
  'deployments:write',
  'jobs:write',
  'networks:write',
  'volumes:write',
  'backups:write',
  'logs:read',
  'exec',
  /** Permission to download data that a former primary of a volume kept. */
  'divergences:read',
] as const

const SECRET_WRITES = [
  'secrets:read-keys',
  /** Permission to write secret values, including `values` and `generate` inside a deployment. */
  'secrets:write',
  'secrets:rotate',
  'registries:write',
] as const

const TENANT_WRITES = ['nodes:write', 'join-tokens:write', 'claims:release', 'tokens:write'] as const

const PLATFORM_WRITES = [
  'tenants:write',
  'quotas:write',
  'control-plane-nodes:write',
  'metrics:read',
  /** Permission to act in a tenant other than the token's own, selected by X-Tenant-ID. The audit entry records it. */
  'tenants:choose',
] as const

export const ACTIONS = [
  ...READS,
  ...WORKLOAD_WRITES,
  ...SECRET_WRITES,
  ...TENANT_WRITES,
  ...PLATFORM_WRITES,
] as const
export type Action = (typeof ACTIONS)[number]

const TENANT_ADMIN = [...READS, ...WORKLOAD_WRITES, ...SECRET_WRITES, ...TENANT_WRITES]

const TABLE: { readonly [role in Role]: ReadonlySet<Action> } = {
  viewer: new Set(READS),
  developer: new Set([...READS, ...WORKLOAD_WRITES]),
  'secrets-admin': new Set([...READS, ...SECRET_WRITES]),
  'tenant-admin': new Set(TENANT_ADMIN),
  'platform-admin': new Set(ACTIONS),
}

export function may(role: Role, action: Action): boolean {
  return TABLE[role].has(action)
}

/** The tokens that may perform an action, for the text of a permission_denied rejection. */
export function tokensThatMay(action: Action): string {
  const roles = ROLES.filter((role) => may(role, action))
  return `a token with the role ${roles.join(', ').replace(/, ([^,]*)$/, ' or $1')}`
}
