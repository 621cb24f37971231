// The endpoints /tenants with tokens and quotas, sign-in, and the reads of a whole tenant or of the platform.

import {
  issuedTokenShape,
  meShape,
  overviewShape,
  pageShape,
  platformShape,
  quotaListShape,
  type Role,
  residencyEntryShape,
  signInShape,
  signOutShape,
  tenantShape,
  tenantSummaryShape,
  tokenShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions, IntentOptions } from '../calls.ts'
import type { PageQuery, ShortListQuery } from '../pages.ts'
import { segment } from '../request.ts'

const ALL = '/tenants'
const one = (tenant: string): string => `${ALL}/${segment(tenant)}`

export interface NewToken {
  readonly name: string
  readonly role: Role
  readonly expiresAt: string
}

export interface TenantPatch {
  readonly name?: string
  readonly quotas?: { readonly [kind: string]: number }
}

export function tenantCalls({ get, post, write }: Calls) {
  return {
    list: (page: PageQuery = {}, options?: CallOptions) =>
      get(ALL, pageShape(tenantShape), { ...page }, options),
    /** Reads one page of short items, which `query` filters and sorts. */
    summaries: (query: ShortListQuery = {}, options?: CallOptions) =>
      get(ALL, pageShape(tenantSummaryShape), { ...query, view: 'summary' }, options),
    read: (tenant: string, options?: CallOptions) => get(one(tenant), tenantShape, {}, options),
    create: (request: { readonly name: string }, options?: IntentOptions) =>
      post(ALL, { ...request }, tenantShape, options),
    change: (tenant: string, patch: TenantPatch, options?: ConditionalOptions) =>
      write('PATCH', one(tenant), tenantShape, { body: { ...patch } }, options),
    remove: (tenant: string, options?: ConditionalOptions) =>
      write('DELETE', one(tenant), tenantShape, {}, options),
    tokens: (tenant: string, page: PageQuery = {}, options?: CallOptions) =>
      get(`${one(tenant)}/tokens`, pageShape(tokenShape), { ...page }, options),
    issueToken: (tenant: string, request: NewToken, options?: IntentOptions) =>
      post(`${one(tenant)}/tokens`, { ...request }, issuedTokenShape, options),
    revokeToken: (tenant: string, id: string, options?: ConditionalOptions) =>
      write('DELETE', `${one(tenant)}/tokens/${segment(id)}`, tokenShape, {}, options),
    /** Reads the tenant, token, role and permitted actions of the caller. */
    me: (options?: CallOptions) => get('/me', meShape, {}, options),
    /** Signs a browser in: the response sets the cookie, which the browser then sends on its own. */
    signIn: (token: string, options?: CallOptions) =>
      write('POST', '/sign-in', signInShape, { body: { token } }, options),
    signOut: (options?: CallOptions) => write('DELETE', '/sign-in', signOutShape, {}, options),
    overview: (options?: CallOptions) => get('/overview', overviewShape, {}, options),
    residency: (page: PageQuery = {}, options?: CallOptions) =>
      get('/residency', pageShape(residencyEntryShape), { ...page }, options),
    platform: (options?: CallOptions) => get('/platform', platformShape, {}, options),
    quotas: (options?: CallOptions) => get('/quotas', quotaListShape, {}, options),
  }
}
