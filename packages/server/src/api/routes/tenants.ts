// /api/v1/tenants, their tokens and quotas. DECISIONS 1 and 8.

import {
  type IssuedToken,
  issuedTokenShape,
  list,
  nullable,
  object,
  quotaListShape,
  string,
  type Tenant,
  tenantShape,
  tokenShape,
} from '@holdfast/contract'
import { done } from '../../operations/caller.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { listPage } from '../../operations/page.ts'
import {
  changeTenant,
  createTenant,
  getTenant,
  listTenants,
  newTenantShape,
  removeTenant,
  type TenantDeps,
  tenantPatchShape,
} from '../../operations/tenants/tenants.ts'
import {
  issueToken,
  listTokens,
  newTokenShape,
  revokeToken,
  type TokenDeps,
} from '../../operations/tenants/tokens.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { answer, answerWith, type Endpoint, param } from '../endpoint.ts'
import { answerOnce, issueOnce, kept } from '../idempotent.ts'

const TENANTS = '/api/v1/tenants'
const TENANT = '/api/v1/tenants/{tenant}'
const TOKENS = '/api/v1/tenants/{tenant}/tokens'

export type TenantEndpointDeps = TenantDeps & TokenDeps & { readonly quotas: Quotas }

export function tenantEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    ...collectionEndpoints(deps),
    ...oneTenantEndpoints(deps),
    ...tokenEndpoints(deps),
    quotaEndpoint(deps),
  ]
}

function collectionEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    {
      method: 'GET',
      path: TENANTS,
      action: 'tenants:choose',
      summary: 'List all tenants',
      query: ['limit', 'cursor'],
      headers: [],
      success: { status: 200, shape: object({ items: list(tenantShape), nextCursor: nullable(string()) }) },
      codes: [],
      handle: async ({ query }) =>
        answerWith(
          await listPage(
            deps.store,
            query,
            () => listTenants(deps),
            ({ id }) => id,
          ),
          (page) => answer(200, page),
        ),
    },
    {
      method: 'POST',
      path: TENANTS,
      action: 'tenants:write',
      summary: 'Create a tenant with its own secrets mount',
      query: [],
      headers: ['Idempotency-Key'],
      body: newTenantShape,
      success: { status: 201, shape: tenantShape },
      codes: [
        'name_required',
        'field_unknown',
        'field_type_invalid',
        'secrets_store_unavailable',
        'idempotency_key_reused',
      ],
      handle: (request) =>
        answerOnce(
          deps.answers,
          request,
          TENANTS,
          (once) => createTenant(deps, request.caller, request.body, kept(once, createdTenant)),
          createdTenant,
        ),
    },
  ]
}

const createdTenant = (tenant: Tenant): KeptAnswer => ({
  status: 201,
  body: tenant,
  etag: String(tenant.revision),
})

function oneTenantEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    {
      method: 'GET',
      path: TENANT,
      action: 'tenants:read',
      summary: 'Read a tenant',
      query: [],
      headers: [],
      success: { status: 200, shape: tenantShape },
      codes: ['tenant_not_found'],
      handle: async ({ caller }) => {
        await deps.store.fresh()
        return answerWith(getTenant(deps, caller.tenant), (tenant) =>
          answer(200, tenant, String(tenant.revision)),
        )
      },
    },
    {
      method: 'PATCH',
      path: TENANT,
      action: 'tenants:write',
      summary: 'Rename a tenant or set its quotas',
      query: [],
      headers: ['If-Match'],
      body: tenantPatchShape,
      success: { status: 200, shape: tenantShape },
      codes: [
        'tenant_not_found',
        'name_required',
        'field_unknown',
        'field_type_invalid',
        'revision_conflict',
      ],
      handle: async ({ caller, body, ifMatch }) =>
        answerWith(await changeTenant(deps, caller, body, ifMatch), (tenant) =>
          answer(200, tenant, String(tenant.revision)),
        ),
    },
    {
      method: 'DELETE',
      path: TENANT,
      action: 'tenants:write',
      summary: 'Remove a tenant with everything it has; its tokens are void at once',
      query: [],
      headers: ['If-Match'],
      success: { status: 202, shape: tenantShape },
      codes: ['tenant_not_found', 'revision_conflict'],
      handle: async ({ caller, ifMatch }) =>
        answerWith(await removeTenant(deps, caller, ifMatch), (tenant) => answer(202, tenant)),
    },
  ]
}

function tokenEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    {
      method: 'GET',
      path: TOKENS,
      action: 'tokens:read',
      summary: 'List the tokens of a tenant, never their secrets',
      query: ['limit', 'cursor'],
      headers: [],
      success: { status: 200, shape: object({ items: list(tokenShape), nextCursor: nullable(string()) }) },
      codes: ['tenant_not_found'],
      handle: async ({ caller, query }) =>
        answerWith(
          await listPage(
            deps.store,
            query,
            () => listTokens(deps, caller.tenant),
            ({ id }) => id,
          ),
          (page) => answer(200, page),
        ),
    },
    {
      method: 'POST',
      path: TOKENS,
      action: 'tokens:write',
      summary: 'Issue a token; it is answered once and stored nowhere',
      query: [],
      headers: ['Idempotency-Key'],
      body: newTokenShape,
      success: { status: 201, shape: issuedTokenShape },
      codes: [
        'tenant_not_found',
        'name_required',
        'field_unknown',
        'field_type_invalid',
        'idempotency_key_reused',
      ],
      handle: (request) =>
        issueOnce(deps.answers, request, TOKENS, {
          withoutToken: ({ token: _secret, ...issued }: IssuedToken) => issued,
          run: (once) => issueToken(deps, request.caller, request.body, once),
        }),
    },
    {
      method: 'DELETE',
      path: `${TOKENS}/{id}`,
      action: 'tokens:write',
      summary: 'Revoke a token',
      query: [],
      headers: [],
      success: { status: 202, shape: tokenShape },
      codes: ['tenant_not_found', 'not_found'],
      handle: async (request) =>
        answerWith(await revokeToken(deps, request.caller, param(request, 'id')), (token) =>
          answer(202, token),
        ),
    },
  ]
}

function quotaEndpoint({ quotas, store }: TenantEndpointDeps): Endpoint {
  return {
    method: 'GET',
    path: '/api/v1/quotas',
    action: 'quotas:read',
    summary: 'What the tenant uses of each quota',
    query: [],
    headers: [],
    success: { status: 200, shape: quotaListShape },
    codes: [],
    handle: async ({ caller }) => {
      await store.fresh()
      return answerWith(done(quotas.list(caller.tenant)), (body) => answer(200, body))
    },
  }
}
