// The endpoints below /api/v1/tenants: tenants, their tokens and quotas.

import {
  type IssuedToken,
  issuedTokenShape,
  meShape,
  newTenantShape,
  newTokenShape,
  pageShape,
  quotaListShape,
  type Tenant,
  type TenantSummary,
  tenantPatchShape,
  tenantShape,
  tenantSummaryShape,
  tokenShape,
} from '@holdfast/contract'
import { done, type Outcome } from '../../operations/caller.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { listPage, type Page } from '../../operations/page.ts'
import { isListed, type ListQuery } from '../../operations/short-list.ts'
import { readMe } from '../../operations/tenants/read-me.ts'
import {
  changeTenant,
  createTenant,
  getTenant,
  listTenants,
  removeTenant,
  type TenantDeps,
} from '../../operations/tenants/tenants.ts'
import {
  issueToken,
  listTokens,
  revokeToken,
  TOKEN_REVISION,
  type TokenDeps,
} from '../../operations/tenants/tokens.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { type Endpoint, endpoint, listEndpoint, param } from '../endpoint.ts'
import { issueOnce, kept, respondOnce } from '../idempotent.ts'

const TENANTS = '/api/v1/tenants'
const TENANT = '/api/v1/tenants/{tenant}'
const TOKENS = '/api/v1/tenants/{tenant}/tokens'

export type TenantEndpointDeps = TenantDeps &
  TokenDeps & {
    readonly quotas: Quotas
    listTenantSummaries(query: ListQuery): Promise<Outcome<Page<TenantSummary>>>
  }

export function tenantEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    ...collectionEndpoints(deps),
    ...oneTenantEndpoints(deps),
    ...tokenEndpoints(deps),
    quotaEndpoint(deps),
    meEndpoint(deps),
  ]
}

function meEndpoint({ store }: TenantEndpointDeps): Endpoint {
  return endpoint('GET', '/api/v1/me', {
    operation: 'getMe',
    action: 'tenants:read',
    summary: 'Read who the token is: its tenant, name, role, expiry and permitted actions',
    shape: meShape,
    run: ({ caller }) => readMe(store, caller),
  })
}

function collectionEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    endpoint('GET', TENANTS, {
      operation: 'listTenants',
      action: 'tenants:choose',
      summary:
        'List all tenants, or those whose name matches; `view=summary` returns short items with what needs a person',
      query: ['limit', 'cursor', 'listView', 'q', 'sort'],
      shape: pageShape(tenantShape),
      short: pageShape(tenantSummaryShape),
      run: ({ query }): Promise<Outcome<Page<unknown>>> =>
        query.listView === 'summary'
          ? deps.listTenantSummaries(query)
          : listPage(
              deps.store,
              query,
              () => listTenants(deps).filter(({ name }) => isListed({ name, phase: '' }, query)),
              ({ id }) => id,
            ),
    }),
    endpoint('POST', TENANTS, {
      operation: 'createTenant',
      action: 'tenants:write',
      summary: 'Create a tenant with its own secrets mount',
      headers: ['Idempotency-Key'],
      body: newTenantShape,
      status: 201,
      shape: tenantShape,
      codes: [
        'name_required',
        'field_unknown',
        'field_type_invalid',
        'tenant_exists',
        'secrets_store_unavailable',
        'idempotency_key_reused',
      ],
      handle: (request) =>
        respondOnce(
          deps.answers,
          request,
          TENANTS,
          (once) => createTenant(deps, request.caller, request.body, kept(once, createdTenant)),
          createdTenant,
        ),
    }),
  ]
}

const etagOf = ({ revision }: Tenant): string => String(revision)

const createdTenant = (tenant: Tenant): KeptAnswer => ({ status: 201, body: tenant, etag: etagOf(tenant) })

function oneTenantEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    endpoint('GET', TENANT, {
      operation: 'getTenant',
      action: 'tenants:read',
      summary: 'Read a tenant',
      shape: tenantShape,
      codes: ['tenant_not_found'],
      run: async ({ caller }) => {
        await deps.store.fresh()
        return getTenant(deps, caller.tenant)
      },
      etag: etagOf,
    }),
    endpoint('PATCH', TENANT, {
      operation: 'updateTenant',
      action: 'tenants:write',
      summary: 'Rename a tenant or set its quotas',
      headers: ['If-Match'],
      body: tenantPatchShape,
      shape: tenantShape,
      codes: [
        'tenant_not_found',
        'name_required',
        'field_unknown',
        'field_type_invalid',
        'tenant_exists',
        'revision_conflict',
      ],
      run: ({ caller, body, ifMatch }) => changeTenant(deps, caller, body, ifMatch),
      etag: etagOf,
    }),
    endpoint('DELETE', TENANT, {
      operation: 'deleteTenant',
      action: 'tenants:write',
      summary: 'Remove a tenant with everything it has; its tokens become invalid at once',
      headers: ['If-Match'],
      status: 202,
      shape: tenantShape,
      codes: ['tenant_not_found', 'revision_conflict'],
      run: ({ caller, ifMatch }) => removeTenant(deps, caller, ifMatch),
    }),
  ]
}

function tokenEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    listEndpoint(TOKENS, {
      operation: 'listTokens',
      action: 'tokens:read',
      summary: 'List the tokens of a tenant, without their secrets',
      item: tokenShape,
      codes: ['tenant_not_found'],
      run: ({ caller, query }) =>
        listPage(
          deps.store,
          query,
          () => listTokens(deps, caller.tenant),
          ({ id }) => id,
        ),
    }),
    endpoint('POST', TOKENS, {
      operation: 'createToken',
      action: 'tokens:write',
      summary: 'Issue a token; it is returned once and not stored',
      headers: ['Idempotency-Key'],
      body: newTokenShape,
      status: 201,
      shape: issuedTokenShape,
      codes: [
        'tenant_not_found',
        'name_required',
        'field_unknown',
        'field_type_invalid',
        'quota_exceeded',
        'idempotency_key_reused',
      ],
      handle: (request) =>
        issueOnce(deps.answers, request, TOKENS, {
          withoutToken: ({ token: _secret, ...issued }: IssuedToken) => issued,
          run: (once) => issueToken(deps, request.caller, request.body, once),
        }),
    }),
    endpoint('DELETE', `${TOKENS}/{id}`, {
      operation: 'revokeToken',
      action: 'tokens:write',
      summary: 'Revoke a token',
      headers: ['If-Match'],
      status: 202,
      shape: tokenShape,
      codes: ['tenant_not_found', 'not_found', 'revision_conflict'],
      run: (request) => revokeToken(deps, request.caller, param(request, 'id'), request.ifMatch),
      etag: () => String(TOKEN_REVISION),
    }),
  ]
}

function quotaEndpoint({ quotas, store }: TenantEndpointDeps): Endpoint {
  return endpoint('GET', '/api/v1/quotas', {
    operation: 'listQuotas',
    action: 'quotas:read',
    summary: "Read the tenant's usage of each quota",
    shape: quotaListShape,
    run: async ({ caller }) => {
      await store.fresh()
      return done(quotas.list(caller.tenant))
    },
  })
}
