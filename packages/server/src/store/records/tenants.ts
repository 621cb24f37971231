// Tenants, their tokens and exec tickets, and the quota slots of their records.

import {
  boolean,
  branded,
  type Infer,
  type Owner,
  object,
  oneOf,
  optional,
  ROLES,
  string,
  type TenantId,
  type TokenId,
  tenantShape,
  tokenShape,
} from '@holdfast/contract'
import { globalCollection, tenantCollection, v } from './collection.ts'

export const storedTenantShape = object({ v, ...tenantShape.fields })
export type StoredTenant = Infer<typeof storedTenantShape>

/** A token's record. Only the SHA-256 of the token's secret half is stored. */
export const storedTokenShape = object({
  v,
  ...tokenShape.fields,
  tenant: branded<TenantId>(),
  secretHash: string(),
})
export type StoredToken = Infer<typeof storedTokenShape>

/**
 * A browser that signed in with a token. The id is the SHA-256 of the cookie's value. A sign-in is valid only while its
 * token is.
 */
export const storedSignInShape = object({
  v,
  token: branded<TokenId>(),
  createdAt: string(),
  expiresAt: string(),
  /** A recent use, written at most every five minutes. */
  usedAt: string(),
})
export type StoredSignIn = Infer<typeof storedSignInShape>

export const slotShape = object({ v, holder: string() })

/**
 * The token that a tenant issued last, under one fixed key. Every issue compares and writes this record, so that the issues
 * of one tenant follow each other and none exceeds the quota.
 */
export const tokenIssueShape = object({ v, token: branded<TokenId>() })

/** The tenant that has a name; the key is the name. */
export const tenantNameShape = object({ v, tenant: branded<TenantId>() })

/** The id of the platform tenant, under one fixed key. */
export const platformShape = object({ v, tenant: branded<TenantId>() })

/**
 * Permission to run one command in one container, once and within half a minute. The command is encrypted with the
 * ticket, because its arguments may contain secrets that only the ticket's owner may read.
 */
export const execTicketShape = object({
  v,
  tenant: branded<TenantId>(),
  /** The token of the caller; the ticket is valid only while the token is valid. */
  token: branded<TokenId>(),
  role: oneOf(ROLES),
  onBehalf: boolean(),
  owner: branded<Owner>(),
  /** The name of the owner, for the audit entry. */
  name: string(),
  secretHash: string(),
  sealed: string(),
  expiresAt: string(),
})

/**
 * A secrets mount that is being created for a tenant without a record; operations/tenants/new-mounts.ts describes the
 * states.
 */
export const newMountShape = object({
  v,
  tenant: branded<TenantId>(),
  createdAt: string(),
  /** True if the record of the tenant may no longer be written and the mount must be removed. */
  abandoned: optional(boolean()),
})

export const tenants = globalCollection('tenant', storedTenantShape)
export const tenantNames = globalCollection('tenantname', tenantNameShape)
export const tokens = globalCollection('token', storedTokenShape)
export const tokenIssues = tenantCollection('tokissue', tokenIssueShape, true)
export const TOKEN_ISSUE_ID = 'last'
export const slots = tenantCollection('slot', slotShape, true)
export const platform = globalCollection('cfg', platformShape)
export const signIns = globalCollection('signin', storedSignInShape)
export const execTickets = globalCollection('exec', execTicketShape)
export const newMounts = globalCollection('mount', newMountShape)
