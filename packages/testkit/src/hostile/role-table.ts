// The expected response of each endpoint for each role, written from docs/design/api.md#roles and not from the
// implementation. The cross-tenant test fails if an endpoint is missing in this table, so a new endpoint needs a row.

export type Role = 'viewer' | 'developer' | 'secrets-admin' | 'tenant-admin' | 'platform-admin'

/** Roles allowed by each row of the role table in docs/design/api.md#roles. */
const MAY = {
  reads: ['viewer', 'developer', 'secrets-admin', 'tenant-admin', 'platform-admin'],
  workloads: ['developer', 'tenant-admin', 'platform-admin'],
  secrets: ['secrets-admin', 'tenant-admin', 'platform-admin'],
  tenant: ['tenant-admin', 'platform-admin'],
  platform: ['platform-admin'],
  /** Endpoints that any caller may use without a token, because the body or the path contains the credential. */
  open: ['viewer', 'developer', 'secrets-admin', 'tenant-admin', 'platform-admin'],
} as const satisfies { [line: string]: readonly Role[] }

export interface Row {
  readonly line: keyof typeof MAY
  /** An invalid request body, which the server rejects even for an allowed role, so that the tests change nothing. */
  readonly body?: unknown
  readonly headers?: readonly string[]
  /** The error code without X-Tenant-ID, for endpoints that require this header. */
  readonly tenantRequired?: string
  /** True if `tenantRequired` also rejects a header that is not a UUID. */
  readonly rejectsMalformed?: boolean
  /** The error code or success status that a caller with an allowed role gets for the row's request. */
  readonly reached: string
}

const STALE = ['If-Match: "999999"']

export const ROWS: { readonly [endpoint: string]: Row } = {
  'GET /api/v1/deployments': { line: 'reads', reached: '200' },
  'POST /api/v1/deployments': { line: 'workloads', body: {}, reached: 'manifest_wrong_kind' },
  'GET /api/v1/deployments/{name}': { line: 'reads', reached: 'deployment_not_found' },
  'GET /api/v1/deployments/{name}/placements': { line: 'reads', reached: 'deployment_not_found' },
  'GET /api/v1/deployments/{name}/status': { line: 'reads', reached: 'deployment_not_found' },
  'GET /api/v1/deployments/{name}/metrics': { line: 'reads', reached: 'deployment_not_found' },
  'GET /api/v1/deployments/{name}/scaling': { line: 'reads', reached: 'deployment_not_found' },
  'PUT /api/v1/deployments/{name}/scaling': {
    line: 'workloads',
    body: {},
    reached: 'deployment_not_found',
  },
  'DELETE /api/v1/deployments/{name}/scaling': { line: 'workloads', reached: 'deployment_not_found' },
  'GET /api/v1/deployments/{name}/why': { line: 'reads', reached: 'deployment_not_found' },
  'GET /api/v1/deployments/{name}/logs': { line: 'workloads', reached: 'deployment_not_found' },
  'POST /api/v1/deployments/{name}/exec': { line: 'workloads', body: {}, reached: 'field_type_invalid' },
  // The exec ticket is the credential. The test's request is rejected because it is no WebSocket upgrade.
  'GET /api/v1/exec/{id}': { line: 'open', reached: 'header_invalid' },
  'POST /api/v1/dry-run': { line: 'workloads', body: { documents: [] }, reached: '200' },
  'PUT /api/v1/deployments/{name}': { line: 'workloads', body: {}, reached: 'deployment_not_found' },
  'DELETE /api/v1/deployments/{name}': { line: 'workloads', reached: 'deployment_not_found' },
  'POST /api/v1/deployments/{name}/restart': { line: 'workloads', reached: 'deployment_not_found' },
  'POST /api/v1/deployments/{name}/rollback': {
    line: 'workloads',
    body: { revision: 1 },
    reached: 'deployment_not_found',
  },
  'POST /api/v1/deployments/{name}/canary': {
    line: 'workloads',
    body: { change: {}, replicas: 1, weight: 10 },
    reached: 'deployment_not_found',
  },
  'POST /api/v1/deployments/{name}/canary/promote': {
    line: 'workloads',
    body: {},
    reached: 'deployment_not_found',
  },
  'POST /api/v1/deployments/{name}/canary/abort': { line: 'workloads', reached: 'deployment_not_found' },
  'GET /api/v1/deployments/{name}/secrets/rotation': { line: 'reads', reached: 'deployment_not_found' },
  'POST /api/v1/deployments/{name}/secrets/rotate': {
    line: 'secrets',
    body: { phase: 'stage' },
    reached: 'deployment_not_found',
  },
  'GET /api/v1/archives/deployments/{name}': { line: 'reads', reached: 'archive_not_found' },
  'GET /api/v1/archives/deployments/{name}/{revision}': { line: 'reads', reached: 'archive_not_found' },
  'GET /api/v1/backups': { line: 'reads', reached: '200' },
  'POST /api/v1/backups': { line: 'workloads', body: {}, reached: 'field_type_invalid' },
  'GET /api/v1/backups/{id}': { line: 'reads', reached: 'backup_not_found' },
  'DELETE /api/v1/backups/{id}': { line: 'workloads', reached: 'backup_not_found' },
  'POST /api/v1/backups/{id}/restore': { line: 'workloads', reached: 'backup_not_found' },
  'GET /api/v1/events': { line: 'reads', reached: '200' },
  // The request must be invalid, because an accepted event stream would never end.
  'GET /api/v1/events/stream': {
    line: 'reads',
    headers: ['Last-Event-ID: nothing'],
    reached: 'header_invalid',
  },
  'GET /api/v1/changes/stream': {
    line: 'reads',
    headers: ['Last-Event-ID: nothing'],
    reached: 'header_invalid',
  },
  'GET /api/v1/audit': { line: 'reads', reached: '200' },
  'GET /api/v1/quotas': { line: 'reads', reached: '200' },
  'GET /api/v1/registries': { line: 'reads', reached: '200' },
  'GET /api/v1/scheduler/regions': { line: 'reads', reached: '200' },
  'PUT /api/v1/registries/{host}/credential': {
    line: 'secrets',
    body: { username: 'somebody', password: 'something' },
    reached: 'registry_not_allowed',
  },
  'DELETE /api/v1/registries/{host}/credential': { line: 'secrets', reached: 'registry_not_allowed' },
  'GET /api/v1/secrets': { line: 'reads', reached: '200' },
  'GET /api/v1/secrets/resources': { line: 'reads', reached: '200' },
  'GET /api/v1/secrets/resources/{name}/consumers': { line: 'reads', reached: '200' },
  'PUT /api/v1/secrets/{namespace}/{resource}': {
    line: 'secrets',
    body: { values: {} },
    reached: 'secret_write_empty',
  },
  'PATCH /api/v1/secrets/{namespace}/{resource}': {
    line: 'secrets',
    body: { values: {} },
    reached: 'secret_write_empty',
  },
  'DELETE /api/v1/secrets/{namespace}/{resource}': { line: 'secrets', reached: 'secret_not_found' },
  'GET /api/v1/overview': { line: 'reads', reached: '200' },
  'GET /api/v1/residency': { line: 'reads', reached: '200' },
  'GET /api/v1/platform': { line: 'platform', reached: '200' },
  'GET /api/v1/deployments/{name}/decisions': { line: 'reads', reached: 'deployment_not_found' },
  'GET /api/v1/nodes/{id}/replicas': { line: 'reads', reached: 'node_not_found' },
  'GET /api/v1/me': { line: 'reads', reached: '200' },
  // Only browsers can sign in, and the cookie of a sign-in is the only credential that signing out ends.
  'POST /api/v1/sign-in': { line: 'open', body: {}, reached: 'header_invalid' },
  'DELETE /api/v1/sign-in': { line: 'reads', reached: 'not_found' },
  'GET /api/v1/tenants': { line: 'platform', reached: '200' },
  'POST /api/v1/tenants': { line: 'platform', body: {}, reached: 'name_required' },
  'GET /api/v1/tenants/{tenant}': { line: 'reads', reached: '200' },
  'PATCH /api/v1/tenants/{tenant}': {
    line: 'platform',
    body: {},
    headers: STALE,
    reached: 'revision_conflict',
  },
  'DELETE /api/v1/tenants/{tenant}': { line: 'platform', headers: STALE, reached: 'revision_conflict' },
  'GET /api/v1/tenants/{tenant}/tokens': { line: 'reads', reached: '200' },
  'POST /api/v1/tenants/{tenant}/tokens': { line: 'tenant', body: {}, reached: 'name_required' },
  'DELETE /api/v1/tenants/{tenant}/tokens/{id}': { line: 'tenant', reached: 'not_found' },
  'GET /api/v1/dvm/recommendations': {
    line: 'reads',
    tenantRequired: 'dvm_recommendation_tenant_required',
    reached: '200',
  },
  'POST /api/v1/dvm/recommendations/{id}/apply': {
    line: 'workloads',
    body: {},
    reached: 'dvm_recommendation_not_found',
  },
  'GET /api/v1/jobs': { line: 'reads', reached: '200' },
  'POST /api/v1/jobs': { line: 'workloads', body: {}, reached: 'manifest_wrong_kind' },
  'GET /api/v1/jobs/{id}': { line: 'reads', reached: 'job_not_found' },
  'GET /api/v1/jobs/{id}/why': { line: 'reads', reached: 'job_not_found' },
  'GET /api/v1/jobs/{id}/logs': { line: 'workloads', reached: 'job_not_found' },
  'DELETE /api/v1/jobs/{id}': { line: 'workloads', reached: 'job_not_found' },
  'GET /api/v1/networks': { line: 'reads', reached: '200' },
  'POST /api/v1/networks': { line: 'workloads', body: {}, reached: 'name_required' },
  'GET /api/v1/networks/{id}': { line: 'reads', reached: 'network_not_found' },
  'DELETE /api/v1/networks/{id}': { line: 'workloads', reached: 'network_not_found' },
  'GET /api/v1/dvm/volumes': { line: 'reads', reached: '200' },
  'GET /api/v1/tenants/{tenant}/volumes': { line: 'reads', reached: '200' },
  'POST /api/v1/tenants/{tenant}/volumes': { line: 'workloads', body: {}, reached: 'name_required' },
  'GET /api/v1/tenants/{tenant}/volumes/{id}': { line: 'reads', reached: 'volume_not_found' },
  'GET /api/v1/tenants/{tenant}/volumes/{id}/why': { line: 'reads', reached: 'volume_not_found' },
  'PATCH /api/v1/tenants/{tenant}/volumes/{id}': {
    line: 'workloads',
    body: { replicas: 1 },
    reached: 'volume_not_found',
  },
  'DELETE /api/v1/tenants/{tenant}/volumes/{id}': { line: 'workloads', reached: 'volume_not_found' },
  'POST /api/v1/tenants/{tenant}/volumes/{id}/resize': {
    line: 'workloads',
    body: { sizeBytes: 2 ** 30 },
    reached: 'volume_not_found',
  },
  'POST /api/v1/tenants/{tenant}/volumes/{id}/promote': {
    line: 'workloads',
    body: {},
    reached: 'volume_not_found',
  },
  'POST /api/v1/tenants/{tenant}/volumes/{id}/replicas': {
    line: 'workloads',
    body: { node_id: 'none' },
    reached: 'volume_not_found',
  },
  'DELETE /api/v1/tenants/{tenant}/volumes/{id}/replicas/{nodeId}': {
    line: 'workloads',
    reached: 'volume_not_found',
  },
  'GET /api/v1/tenants/{tenant}/volumes/{id}/divergences': { line: 'reads', reached: 'volume_not_found' },
  'GET /api/v1/tenants/{tenant}/volumes/{id}/divergences/{epoch}': {
    line: 'workloads',
    reached: 'volume_not_found',
  },
  'DELETE /api/v1/tenants/{tenant}/volumes/{id}/divergences/{epoch}': {
    line: 'workloads',
    reached: 'volume_not_found',
  },
  'GET /api/v1/tenants/{tenant}/volumes/{id}/snapshots': { line: 'reads', reached: 'volume_not_found' },
  'GET /api/v1/tenants/{tenant}/volumes/{id}/snapshots/{snap}': {
    line: 'reads',
    reached: 'volume_not_found',
  },
  'POST /api/v1/tenants/{tenant}/volumes/{id}/snapshots': {
    line: 'workloads',
    reached: 'volume_snapshot_not_implemented',
  },
  'POST /api/v1/nodes/join-tokens': { line: 'tenant', body: {}, reached: 'field_type_invalid' },
  'POST /api/v1/nodes/enroll': { line: 'open', body: {}, reached: 'field_type_invalid' },
  'GET /api/v1/nodes': { line: 'reads', reached: '200' },
  'GET /api/v1/nodes/{id}': { line: 'reads', reached: 'node_not_found' },
  'GET /api/v1/nodes/{id}/containers': { line: 'reads', reached: 'node_not_found' },
  'GET /api/v1/nodes/{id}/metrics': { line: 'reads', reached: 'node_not_found' },
  'POST /api/v1/nodes/{id}/cordon': { line: 'tenant', reached: 'node_not_found' },
  'POST /api/v1/nodes/{id}/uncordon': { line: 'tenant', reached: 'node_not_found' },
  'POST /api/v1/nodes/{id}/drain': { line: 'tenant', reached: 'node_not_found' },
  'PATCH /api/v1/nodes/{id}': { line: 'platform', body: { controlPlane: true }, reached: 'node_not_found' },
  'DELETE /api/v1/nodes/{id}': { line: 'tenant', reached: 'node_not_found' },
  'DELETE /api/v1/nodes/{nodeName}/claim': {
    line: 'tenant',
    tenantRequired: 'node_claim_release_no_tenant',
    rejectsMalformed: true,
    reached: 'node_not_found',
  },
  'GET /api/v1/errors': { line: 'reads', reached: '200' },
  'GET /api/v1/errors/{code}': { line: 'reads', reached: '200' },
  'GET /metrics': { line: 'platform', reached: '200' },
}

/** Values of path parameters that match no existing object; each test chooses `{tenant}` itself. */
export const NONEXISTENT: { readonly [parameter: string]: string } = {
  name: 'no-such-name',
  revision: '1',
  epoch: '1',
  host: 'registry.not-allowed.example',
  id: 'tok_00000000000000000000000000',
  code: 'not_found',
  nodeName: 'no-such-node',
  nodeId: 'node_00000000000000000000000000',
  snap: 'no-such-snapshot',
  namespace: 'resources',
  resource: 'no-such-secret',
}

/** The caller of an endpoint: role and tenant of the caller's token, or an unknown token. */
export type Caller =
  | { readonly known: false }
  | { readonly known: true; readonly role: Role; readonly tenant: string }

export interface TenantChoice {
  /** The X-Tenant-ID header. Absent if none is sent; `invalid`: repeated, or not a UUID in lower case. */
  readonly header?: string | 'invalid' | 'empty'
  /** The tenant in the path. Absent if the path has no {tenant}. */
  readonly path?: string
  /** Ids of all tenants that exist. */
  readonly existing: ReadonlySet<string>
}

/** The expected error code, or the status of a success, for a caller of an endpoint. */
export function expectedOutcome(row: Row, caller: Caller, choices: TenantChoice): string {
  if (row.line === 'open') return row.reached
  if (!caller.known) return 'unauthenticated'
  const { header } = choices
  const isMissing =
    header === undefined || header === 'empty' || (header === 'invalid' && row.rejectsMalformed === true)
  if (row.tenantRequired !== undefined && isMissing) return row.tenantRequired
  const choice =
    caller.role === 'platform-admin' ? platformChoice(choices) : tenantChoice(caller.tenant, choices)
  if (choice !== undefined) return choice
  const allowed: readonly Role[] = MAY[row.line]
  return allowed.includes(caller.role) ? row.reached : 'permission_denied'
}

/**
 * Expected result for a caller with a tenant. Another tenant in the path gives tenant_not_found, whether or not it
 * exists. The header may only name the caller's own tenant.
 */
function tenantChoice(own: string, { header, path }: TenantChoice): string | undefined {
  if (path !== undefined && path !== own) return 'tenant_not_found'
  if (header === 'invalid' || header === 'empty') return 'header_invalid'
  return header !== undefined && header !== own ? 'permission_denied' : undefined
}

/** Expected result for a platform-admin, who may name a tenant in the header or in the path; both must agree. */
function platformChoice({ header, path, existing }: TenantChoice): string | undefined {
  if (path !== undefined && !existing.has(path)) return 'tenant_not_found'
  if (header === 'invalid' || header === 'empty') return 'header_invalid'
  if (header !== undefined && path !== undefined && header !== path) return 'header_invalid'
  return header !== undefined && !existing.has(header) ? 'tenant_not_found' : undefined
}
