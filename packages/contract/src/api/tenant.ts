// Tenants, their quotas, tokens and registry credentials.

import type { TenantId, TokenId } from '../ids.ts'
import {
  boolean,
  branded,
  field,
  type Infer,
  integer,
  list,
  map,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import {
  registryCredentialTexts,
  signInTexts,
  tenantPatchTexts,
  tenantTexts,
  tokenTexts,
} from '../texts/request-texts.ts'

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
  'backups',
  'tokens',
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

export const TENANT_NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** The body of POST /tenants. */
export const newTenantShape = object({
  name: field(tenantTexts.name, string({ pattern: TENANT_NAME.source })),
})

/** The body of PATCH /tenants/{id}. */
export const tenantPatchShape = object({
  name: field(tenantPatchTexts.name, optional(string())),
  quotas: field(tenantPatchTexts.quotas, optional(map(integer({ minimum: 0 })))),
})

export const tokenShape = object({
  id: branded<TokenId>(),
  name: string(),
  role: oneOf(ROLES),
  createdAt: string(),
  expiresAt: string(),
})
export type Token = Infer<typeof tokenShape>

/** The body of POST /tenants/{id}/tokens. */
export const newTokenShape = object({
  name: field(tokenTexts.name, string()),
  role: field(tokenTexts.role, oneOf(ROLES)),
  expiresAt: field(tokenTexts.expiresAt, string()),
})

/** The response to GET /me: who the caller is, and what its role may do. */
export const meShape = object({
  /** The tenant in which the request acts: that of the token, or the one that a platform administrator chose. */
  tenant: object({ id: branded<TenantId>(), name: string() }),
  token: object({ id: branded<TokenId>(), name: string(), role: oneOf(ROLES), expiresAt: string() }),
  actions: list(string({ description: 'resource:verb, or one word' })),
  server: object({ version: string() }),
})
export type Me = Infer<typeof meShape>

/** The body of POST /sign-in. */
export const newSignInShape = object({ token: field(signInTexts.token, string()) })

/** The response to POST /sign-in. The cookie itself is in a header that scripts cannot read. */
export const signInShape = object({
  ...meShape.fields,
  /** When the sign-in ends at the latest. It ends earlier after an hour without requests, and with its token. */
  expiresAt: string(),
})
export type SignIn = Infer<typeof signInShape>

/** The response to DELETE /sign-in. */
export const signOutShape = object({ endedAt: string() })

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
  /** Revision of the credential, which `If-Match` names; absent without a credential. */
  revision: optional(integer()),
})
export type Registry = Infer<typeof registryShape>

/** The body of PUT /registries/{host}/credential. */
export const registryCredentialShape = object({
  username: field(registryCredentialTexts.username, string()),
  password: field(registryCredentialTexts.password, string()),
})
