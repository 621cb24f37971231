// Tenants, their quotas, tokens and registry credentials.

import type { TenantId, TokenId } from '../ids.ts'
import {
  boolean,
  branded,
  type Infer,
  integer,
  list,
  map,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'

export const ROLES = ['viewer', 'developer', 'secrets-admin', 'tenant-admin', 'platform-admin'] as const
export type Role = (typeof ROLES)[number]

export const QUOTA_KINDS = [
  'nodes',
  'deployments',
  'containers',
  'volumes',
  'volume_bytes',
  'networks',
  'jobs_running',
  'secrets',
  'stored_bytes',
] as const
export type QuotaKind = (typeof QUOTA_KINDS)[number]

export const tenantShape = object({
  id: branded<TenantId>(),
  name: string(),
  /** True for the platform's own tenant, of which there is exactly one. */
  platform: boolean(),
  quotas: map(integer({ minimum: 0 })),
  revision: integer(),
  createdAt: string(),
  deleting: boolean(),
})
export type Tenant = Infer<typeof tenantShape>

export const tokenShape = object({
  id: branded<TokenId>(),
  name: string(),
  role: oneOf(ROLES),
  createdAt: string(),
  expiresAt: string(),
})
export type Token = Infer<typeof tokenShape>

/** The only response that contains the API token. The server never stores the token itself. */
export const issuedTokenShape = object({ ...tokenShape.fields, token: optional(string()) })
export type IssuedToken = Infer<typeof issuedTokenShape>

export const quotaListShape = object({
  items: list(object({ kind: oneOf(QUOTA_KINDS), used: integer(), limit: integer() })),
})
export type QuotaList = Infer<typeof quotaListShape>

export const registryShape = object({
  host: string(),
  /** Whether the tenant has a credential for the registry host. Only the secrets store contains the credential itself. */
  credential: boolean(),
  updatedAt: optional(string()),
})
export type Registry = Infer<typeof registryShape>
