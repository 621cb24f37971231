// Requests that raise error codes without a fault in the body: authentication, paths, headers, conflicts.

import { BACKUP_PROVOCATIONS } from './backup-provocations.ts'
import { CANARY_PROVOCATIONS } from './canary-provocations.ts'
import { bodyWith, type Provocation } from './provoke.ts'
import { SCALING_PROVOCATIONS } from './scaling-provocations.ts'

const WEB = '/api/v1/deployments/web'
const UNKNOWN_UID = 'dep_01JD0000000000000000000000'
const UNKNOWN_TENANT = '00000000-0000-4000-8000-000000000000'
const tokensOf = (tenant: string) => `/api/v1/tenants/${tenant}/tokens`
const soon = () => new Date(Date.now() + 60_000).toISOString()

const callers: readonly Provocation[] = [
  { code: 'unauthenticated', field: 'Authorization', sent: () => ({ as: 'anonymous', method: 'GET' }) },
  { code: 'unauthenticated', field: 'Authorization', sent: (w) => ({ as: 'forged', body: bodyWith(w) }) },
  { code: 'permission_denied', field: 'Authorization', sent: (w) => ({ as: 'viewer', body: bodyWith(w) }) },
  {
    code: 'permission_denied',
    field: 'X-Tenant-ID',
    sent: (w) => ({ body: bodyWith(w), headers: { 'x-tenant-id': w.platform.globex.id } }),
  },
  {
    code: 'permission_denied',
    field: 'role',
    sent: (w) => ({
      path: tokensOf(w.platform.acme.id),
      body: { name: 'mine', role: 'platform-admin', expiresAt: soon() },
    }),
  },
  {
    code: 'permission_denied',
    field: 'tenant',
    sent: (w) => ({ as: 'platform', method: 'DELETE', path: `/api/v1/tenants/${w.platformTenant}` }),
  },
  {
    code: 'tenant_not_found',
    field: 'tenant',
    sent: (w) => ({ path: tokensOf(w.platform.globex.id), body: {} }),
  },
  {
    code: 'tenant_not_found',
    field: 'X-Tenant-ID',
    sent: (w) => ({ as: 'platform', body: bodyWith(w), headers: { 'x-tenant-id': UNKNOWN_TENANT } }),
  },
]

const paths: readonly Provocation[] = [
  { code: 'not_found', field: 'path', sent: () => ({ method: 'GET', path: '/api/v1/nowhere' }) },
  { code: 'not_found', field: 'path', sent: () => ({ method: 'GET', path: '/api/v1/deployments/a%2Fb' }) },
  { code: 'not_found', field: 'path', sent: () => ({ method: 'GET', path: '/api/v1/errors/no_such_code' }) },
  {
    code: 'not_found',
    field: 'path',
    sent: () => ({ as: 'anonymous', method: 'GET', path: '/docs/errors/no_such_code' }),
  },
  { code: 'method_not_allowed', field: 'method', sent: () => ({ method: 'PATCH', path: WEB, body: {} }) },
  {
    code: 'method_not_allowed',
    field: 'method',
    sent: () => ({ method: 'POST', path: '/healthz', body: {} }),
  },
]

const headersAndQueries: readonly Provocation[] = [
  {
    code: 'header_invalid',
    field: 'X-Tenant-ID',
    sent: (w) => ({ body: bodyWith(w), headers: { 'x-tenant-id': 'acme' } }),
  },
  {
    code: 'header_invalid',
    field: 'Content-Type',
    sent: (w) => ({ body: bodyWith(w), headers: { 'content-type': 'text/plain' } }),
  },
  {
    code: 'header_invalid',
    field: 'If-Match',
    sent: () => ({ method: 'PUT', path: WEB, body: {}, headers: { 'if-match': '3' } }),
  },
  {
    code: 'header_invalid',
    field: 'Idempotency-Key',
    sent: (w) => ({ body: bodyWith(w), headers: { 'idempotency-key': 'a b' } }),
  },
  {
    code: 'header_invalid',
    field: 'Last-Event-ID',
    sent: () => ({ method: 'GET', path: '/api/v1/events/stream', headers: { 'last-event-id': 'then' } }),
  },
  {
    code: 'query_parameter_unknown',
    field: 'colour',
    sent: (w) => ({ path: '/api/v1/deployments?colour=red', body: bodyWith(w) }),
  },
  {
    code: 'query_parameter_invalid',
    field: 'dryRun',
    sent: (w) => ({ path: '/api/v1/deployments?dryRun=yes', body: bodyWith(w) }),
  },
  {
    code: 'query_parameter_invalid',
    field: 'limit',
    sent: () => ({ method: 'GET', path: '/api/v1/deployments?limit=0' }),
  },
  {
    code: 'query_parameter_invalid',
    field: 'cursor',
    sent: () => ({ method: 'GET', path: '/api/v1/deployments?cursor=%21' }),
  },
  {
    code: 'query_parameter_invalid',
    field: 'after',
    sent: () => ({ method: 'GET', path: '/api/v1/events?after=then' }),
  },
]

const bodies: readonly Provocation[] = [
  {
    code: 'body_malformed',
    field: 'body',
    sent: () => ({ body: '{"kind":"Deployment","kind":"Deployment"}' }),
  },
  { code: 'body_malformed', field: 'body', sent: () => ({ body: '{' }) },
  { code: 'body_malformed', field: 'body', sent: () => ({ body: '['.repeat(40) + ']'.repeat(40) }) },
  { code: 'body_malformed', field: 'body', sent: () => ({ method: 'DELETE', path: WEB, body: '{}' }) },
  { code: 'body_too_large', field: 'body', sent: () => ({ body: JSON.stringify('x'.repeat(1024 * 1024)) }) },
]

const records: readonly Provocation[] = [
  { code: 'deployment_exists', field: 'name', sent: (w) => ({ body: bodyWith(w, { name: 'web' }) }) },
  {
    code: 'deployment_not_found',
    field: 'name',
    sent: () => ({ method: 'PUT', path: '/api/v1/deployments/absent', body: {} }),
  },
  {
    code: 'deployment_not_found',
    field: 'name',
    sent: () => ({ method: 'DELETE', path: '/api/v1/deployments/absent' }),
  },
  {
    code: 'deployment_not_found',
    field: 'deployment_id',
    sent: () => ({ method: 'GET', path: `/api/v1/deployments/${UNKNOWN_UID}` }),
  },
  {
    code: 'deployment_not_found',
    field: 'deployment_id',
    sent: (w) => ({ as: 'globex', method: 'GET', path: `/api/v1/deployments/${w.uid}` }),
  },
  {
    code: 'deployment_name_invalid',
    field: 'name',
    sent: () => ({ method: 'PUT', path: WEB, body: { name: 'other' } }),
  },
  {
    code: 'field_read_only',
    field: 'uid',
    sent: () => ({ method: 'PUT', path: WEB, body: { uid: UNKNOWN_UID } }),
  },
  {
    code: 'revision_conflict',
    field: 'If-Match',
    sent: () => ({ method: 'PUT', path: WEB, body: { replicas: 2 }, headers: { 'if-match': '"9"' } }),
  },
  {
    code: 'revision_conflict',
    field: 'If-Match',
    sent: () => ({ method: 'DELETE', path: WEB, headers: { 'if-match': '"9"' } }),
  },
  {
    code: 'idempotency_key_reused',
    field: 'Idempotency-Key',
    sent: (w) => ({ body: bodyWith(w), headers: { 'idempotency-key': 'taken' } }),
  },
  {
    code: 'archive_not_found',
    field: 'name',
    sent: () => ({ method: 'GET', path: '/api/v1/archives/deployments/absent' }),
  },
  {
    code: 'archive_not_found',
    field: 'revision',
    sent: () => ({ method: 'GET', path: '/api/v1/archives/deployments/web/7' }),
  },
  {
    code: 'archive_not_found',
    field: 'revision',
    sent: () => ({ path: `${WEB}/rollback`, body: { revision: 7 } }),
  },
  {
    code: 'field_type_invalid',
    field: 'revision',
    sent: () => ({ path: `${WEB}/rollback`, body: { revision: '7' } }),
  },
  {
    code: 'revision_conflict',
    field: 'If-Match',
    sent: () => ({ path: `${WEB}/restart`, headers: { 'if-match': '"9"' } }),
  },
  ...BACKUP_PROVOCATIONS,
  ...SCALING_PROVOCATIONS,
  ...CANARY_PROVOCATIONS,
  { code: 'quota_exceeded', field: 'quotas.deployments', sent: (w) => ({ as: 'full', body: bodyWith(w) }) },
]

const tenancy: readonly Provocation[] = [
  {
    code: 'tenant_exists',
    field: 'name',
    sent: () => ({ as: 'platform', path: '/api/v1/tenants', body: { name: 'acme' } }),
  },
  {
    code: 'name_required',
    field: 'name',
    sent: () => ({ as: 'platform', path: '/api/v1/tenants', body: {} }),
  },
  {
    code: 'field_unknown',
    field: 'colour',
    codes: ['field_unknown', 'name_required'],
    sent: () => ({ as: 'platform', path: '/api/v1/tenants', body: { name: '', colour: 1 } }),
  },
  {
    code: 'field_type_invalid',
    field: 'name',
    sent: () => ({ as: 'platform', path: '/api/v1/tenants', body: { name: 'A B' } }),
  },
  {
    code: 'field_unknown',
    field: 'quotas.cakes',
    sent: (w) => ({
      as: 'platform',
      method: 'PATCH',
      path: `/api/v1/tenants/${w.fullTenant}`,
      body: { quotas: { cakes: 1 } },
    }),
  },
  {
    code: 'field_type_invalid',
    field: 'quotas.nodes',
    sent: (w) => ({
      as: 'platform',
      method: 'PATCH',
      path: `/api/v1/tenants/${w.fullTenant}`,
      body: { quotas: { nodes: -1 } },
    }),
  },
  {
    code: 'revision_conflict',
    field: 'If-Match',
    sent: (w) => ({
      as: 'platform',
      method: 'PATCH',
      path: `/api/v1/tenants/${w.fullTenant}`,
      body: { name: 'fuller' },
      headers: { 'if-match': '"99"' },
    }),
  },
  {
    code: 'permission_denied',
    field: 'Authorization',
    sent: (w) => ({ method: 'PATCH', path: `/api/v1/tenants/${w.platform.acme.id}`, body: {} }),
  },
  {
    code: 'name_required',
    field: 'name',
    codes: ['name_required', 'field_type_invalid', 'field_type_invalid'],
    sent: (w) => ({ path: tokensOf(w.platform.acme.id), body: { name: '', role: 'king' } }),
  },
  {
    code: 'field_type_invalid',
    field: 'expiresAt',
    sent: (w) => ({
      path: tokensOf(w.platform.acme.id),
      body: { name: 'a', role: 'viewer', expiresAt: '2020-01-01T00:00:00Z' },
    }),
  },
  {
    code: 'not_found',
    field: 'path',
    sent: (w) => ({
      method: 'DELETE',
      path: `${tokensOf(w.platform.acme.id)}/tok_01JD0000000000000000000000`,
    }),
  },
  {
    code: 'registry_not_allowed',
    field: 'host',
    sent: () => ({
      method: 'PUT',
      path: '/api/v1/registries/registry.example/credential',
      body: { username: 'a', password: 'b' },
    }),
  },
  {
    code: 'field_type_invalid',
    field: 'username',
    codes: ['field_type_invalid', 'field_type_invalid'],
    sent: (w) => ({
      method: 'PUT',
      path: `/api/v1/registries/${w.platform.registryHost}/credential`,
      body: { username: '', password: '' },
    }),
  },
  {
    code: 'not_found',
    field: 'path',
    sent: (w) => ({ method: 'DELETE', path: `/api/v1/registries/${w.platform.registryHost}/credential` }),
  },
]

export const REQUEST_PROVOCATIONS: readonly Provocation[] = [
  ...callers,
  ...paths,
  ...headersAndQueries,
  ...bodies,
  ...records,
  ...tenancy,
]
