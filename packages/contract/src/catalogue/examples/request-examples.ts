// Examples of the codes that do not depend on the content of a manifest: callers, paths, headers, conflicts, nodes.

import { type CodeExample, EXAMPLE, manifest } from './example.ts'

const DEPLOYMENTS = '/api/v1/deployments'
const ORDERS = `${DEPLOYMENTS}/orders`
const create = { method: 'POST', path: DEPLOYMENTS, body: manifest() } as const
const read = (path: string) => ({ method: 'GET', path }) as const

const callers = {
  unauthenticated: {
    field: 'Authorization',
    fails: { ...read(DEPLOYMENTS), role: 'none' },
    passes: read(DEPLOYMENTS),
    params: {},
  },
  permission_denied: {
    field: 'Authorization',
    fails: { ...create, role: 'viewer' },
    passes: { ...create, role: 'developer' },
    params: { accepted: 'a token with the role developer, tenant-admin or platform-admin' },
  },
  tenant_not_found: {
    field: 'tenant',
    fails: read(`/api/v1/tenants/${EXAMPLE.otherTenant}/tokens`),
    passes: read(`/api/v1/tenants/${EXAMPLE.tenant}/tokens`),
    given: `The token belongs to the tenant ${EXAMPLE.tenant}.`,
    params: {},
  },
  tenant_exists: {
    field: 'name',
    fails: { method: 'POST', path: '/api/v1/tenants', body: { name: 'acme' }, role: 'platform-admin' },
    passes: { method: 'POST', path: '/api/v1/tenants', body: { name: 'initech' }, role: 'platform-admin' },
    given: 'One tenant has the name acme, and none has the name initech.',
    params: {},
  },
  rate_limited: {
    field: 'Authorization',
    fails: read(DEPLOYMENTS),
    given: 'The token has used up its requests, and the next one is allowed in 10 s.',
    params: { seconds: 10 },
  },
} satisfies { [code: string]: CodeExample }

const requests = {
  not_found: {
    field: 'path',
    fails: read('/api/v1/deployment'),
    passes: read(DEPLOYMENTS),
    params: {},
  },
  method_not_allowed: {
    field: 'method',
    fails: { method: 'PATCH', path: ORDERS, body: { replicas: 2 } },
    passes: { method: 'PUT', path: ORDERS, body: { replicas: 2 } },
    given: 'The deployment orders exists.',
    params: { accepted: 'GET, PUT, DELETE' },
  },
  header_invalid: {
    field: 'If-Match',
    fails: { method: 'PUT', path: ORDERS, body: { replicas: 2 }, headers: { 'If-Match': '1' } },
    passes: { method: 'PUT', path: ORDERS, body: { replicas: 2 }, headers: { 'If-Match': '"1"' } },
    given: 'The deployment orders has revision 1.',
    params: { accepted: 'one ETag from an earlier response, for example "3", or *' },
  },
  query_parameter_unknown: {
    field: 'page',
    fails: read(`${DEPLOYMENTS}?page=2`),
    passes: read(`${DEPLOYMENTS}?limit=50`),
    params: { accepted: 'one of limit, cursor, view, q, phase, sort' },
  },
  query_parameter_invalid: {
    field: 'limit',
    fails: read(`${DEPLOYMENTS}?limit=0`),
    passes: read(`${DEPLOYMENTS}?limit=50`),
    params: { accepted: 'a whole number from 1 to 500' },
  },
  body_malformed: {
    field: 'body',
    fails: { ...create, body: [manifest()] },
    passes: create,
    params: { fault: 'it is not a JSON object' },
  },
  body_too_large: {
    field: 'body',
    fails: { ...create, body: manifest({ args: ['x'.repeat(1_048_576)] }) },
    passes: { ...create, body: manifest({ args: ['x'] }) },
    params: { max: 1_048_576 },
  },
  store_unavailable: {
    field: 'store',
    fails: create,
    given: 'The server cannot reach etcd.',
    params: { cause: 'the key-value store of the control plane does not respond' },
  },
} satisfies { [code: string]: CodeExample }

const records = {
  deployment_not_found: {
    field: 'name',
    fails: { method: 'PUT', path: `${DEPLOYMENTS}/order`, body: { replicas: 2 } },
    passes: { method: 'PUT', path: ORDERS, body: { replicas: 2 } },
    given: 'The deployment orders exists, and order does not.',
    params: {},
  },
  deployment_exists: {
    field: 'name',
    fails: { ...create, body: manifest({ name: 'orders' }) },
    passes: create,
    given: 'The deployment orders exists.',
    params: {},
  },
  revision_conflict: {
    field: 'If-Match',
    fails: { method: 'PUT', path: ORDERS, body: { replicas: 2 }, headers: { 'If-Match': '"9"' } },
    passes: { method: 'PUT', path: ORDERS, body: { replicas: 2 }, headers: { 'If-Match': '"1"' } },
    given: 'The deployment orders has revision 1.',
    params: { etag: '"1"' },
  },
  idempotency_key_reused: {
    field: 'Idempotency-Key',
    fails: { ...create, headers: { 'Idempotency-Key': 'create-orders' } },
    passes: { ...create, headers: { 'Idempotency-Key': 'create-shop' } },
    given: 'The key create-orders was sent with another request in the last 24 hours.',
    params: {},
  },
  archive_not_found: {
    field: 'revision',
    fails: read('/api/v1/archives/deployments/orders/7'),
    passes: read('/api/v1/archives/deployments/orders/1'),
    given: 'The deployment orders has one revision.',
    params: {},
  },
  canary_state_invalid: {
    field: 'canary',
    fails: { method: 'POST', path: `${ORDERS}/canary/abort` },
    given: 'The deployment orders has no canary.',
    params: { accepted: 'start', reason: 'no canary runs' },
  },
  backup_not_found: {
    field: 'id',
    fails: read('/api/v1/backups/bak_01JD0000000000000000000000'),
    passes: read(`/api/v1/backups/${EXAMPLE.backup}`),
    params: {},
  },
  quota_exceeded: {
    field: 'quotas.deployments',
    fails: { ...create, headers: { 'X-Tenant-ID': EXAMPLE.otherTenant }, role: 'platform-admin' },
    passes: { ...create, headers: { 'X-Tenant-ID': EXAMPLE.tenant }, role: 'platform-admin' },
    given: `The tenant ${EXAMPLE.otherTenant} may have 1 deployment and has it.`,
    params: { kind: 'deployments', limit: 1, used: 1 },
  },
} satisfies { [code: string]: CodeExample }

const enroll = (nodeName: string, joinToken: string) =>
  ({
    method: 'POST',
    path: '/api/v1/nodes/enroll',
    body: {
      joinToken,
      nodeName,
      publicKey: 'yOYccqaOBrRZCsV2LJqmyDVBkap3AzgMbpgXJH9MM0Q',
      encryptionKey: 'ihjWH65vci5vNAvBxrED-iVSeWTUEN8NmyRw0Rr641s',
      labels: {},
      engine: { version: '29.5.1', apiVersion: '1.56' },
      capacity: { cpuMillis: 4000, memoryBytes: 8_589_934_592 },
    },
    role: 'none',
  }) as const
const inNewTenant = (fields: { readonly nodeId?: string }) =>
  ({
    ...create,
    body: manifest(fields),
    headers: { 'X-Tenant-ID': EXAMPLE.newTenant },
    role: 'platform-admin',
  }) as const

const nodes = {
  node_not_found: {
    field: 'id',
    fails: read('/api/v1/nodes/node_01JD0000000000000000000000'),
    passes: read(`/api/v1/nodes/${EXAMPLE.node}`),
    params: {},
  },
  node_claim_release_no_tenant: {
    field: 'X-Tenant-ID',
    fails: { method: 'DELETE', path: '/api/v1/nodes/standing/claim' },
    passes: {
      method: 'DELETE',
      path: '/api/v1/nodes/standing/claim',
      headers: { 'X-Tenant-ID': EXAMPLE.tenant },
    },
    given: `The tenant ${EXAMPLE.tenant} has the node standing.`,
    params: {},
  },
  join_token_invalid: {
    field: 'joinToken',
    fails: enroll('eu-1', `hfj_01JD0000000000000000000000_${'A'.repeat(43)}`),
    passes: enroll('eu-1', EXAMPLE.joinToken),
    given: 'The second join token was issued for the node name eu-1 and is unused.',
    params: {},
  },
  node_owned_by_another_tenant: {
    field: 'nodeName',
    fails: enroll('standing', EXAMPLE.otherJoinToken),
    passes: enroll('eu-1', EXAMPLE.joinToken),
    given: 'Another tenant has a node with the name standing; each join token was issued for its name.',
    params: {},
  },
  node_candidates_unresolvable: {
    field: 'nodeId',
    fails: inNewTenant({ nodeId: EXAMPLE.node }),
    passes: inNewTenant({}),
    given: `The tenant ${EXAMPLE.newTenant} has no node.`,
    params: {},
  },
  job_node_candidates_unresolvable: {
    field: 'id',
    fails: read(`/api/v1/nodes/${EXAMPLE.node}/containers`),
    given: 'The agent of the node is not connected.',
    params: {},
  },
} satisfies { [code: string]: CodeExample }

export const requestExamples = { ...callers, ...requests, ...records, ...nodes }
