// The 18 endpoints that every client of the platform may rely on: each is served, answers an ordinary request, and is in
// the OpenAPI document.

import { storeReadyVolume } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

interface Row {
  readonly endpoint: string
  readonly status: number
  readonly body?: object
  readonly code?: string
}

const VOLUME = 'vol_01JD0000000000000000000000'
const VOLUMES = '/api/v1/tenants/{tenant}/volumes/{id}'

const ROWS: readonly Row[] = [
  { endpoint: 'POST /api/v1/deployments', status: 201 },
  { endpoint: 'GET /api/v1/deployments', status: 200 },
  { endpoint: 'GET /api/v1/deployments/{name}', status: 200 },
  { endpoint: 'PUT /api/v1/deployments/{name}', status: 200, body: { replicas: 0 } },
  {
    endpoint: 'POST /api/v1/deployments/{name}/secrets/rotate',
    status: 200,
    body: { phase: 'stage', values: { password: 'second' } },
  },
  { endpoint: 'GET /api/v1/secrets/resources', status: 200 },
  { endpoint: 'GET /api/v1/secrets/resources/{name}/consumers', status: 200 },
  { endpoint: 'GET /api/v1/dvm/recommendations', status: 200 },
  { endpoint: 'GET /api/v1/dvm/volumes', status: 200 },
  { endpoint: `GET ${VOLUMES}/snapshots`, status: 200 },
  { endpoint: `GET ${VOLUMES}/snapshots/{snap}`, status: 404, code: 'volume_snapshot_not_found' },
  // No node is enrolled, so the endpoint rejects the copy; that it judges the request shows that it is served.
  {
    endpoint: `POST ${VOLUMES}/replicas`,
    status: 422,
    body: { node_id: 'node_01JD0000000000000000000001' },
    code: 'replica_node_invalid',
  },
  { endpoint: 'POST /api/v1/backups', status: 201, body: { deploymentName: 'web' } },
  { endpoint: 'GET /api/v1/archives/deployments/{name}', status: 200 },
  { endpoint: 'GET /api/v1/events', status: 200 },
  { endpoint: 'GET /api/v1/nodes', status: 200 },
  { endpoint: 'GET /api/v1/scheduler/regions', status: 200 },
  { endpoint: 'GET /healthz', status: 200 },
]

let platform: Platform
let api: ApiClient
beforeAll(async () => {
  platform = await ownPlatform({ settings: { volumes: { enabled: true } } })
  api = platform.api(platform.acme.token)
  await storeReadyVolume(platform, platform.acme.id, VOLUME)
})
afterAll(() => platform.stop())

const deployment = () => ({
  kind: 'Deployment',
  name: 'web',
  image: platform.image,
  replicas: 0,
  secrets: [
    { name: 'DB', vault_path: 'resources/web', anchor: 'external', values: { password: 'the first one' } },
  ],
})

function send({ endpoint, body }: Row) {
  const [method = '', pattern = ''] = endpoint.split(' ')
  const path = pattern
    .replace('{tenant}', platform.acme.id)
    .replace('{id}', VOLUME)
    .replace('{snap}', 'none')
    .replace('{name}', 'web')
  const sent = endpoint === 'POST /api/v1/deployments' ? deployment() : body
  return api.send(method, path, sent, { 'x-tenant-id': platform.acme.id })
}

test('18 of 18 endpoints are served', async () => {
  const answered: string[] = []
  for (const row of ROWS) {
    const { status, codes, text } = await send(row)
    expect([row.endpoint, status, codes[0]], text).toEqual([row.endpoint, row.status, row.code])
    answered.push(row.endpoint)
  }
  expect(new Set(answered).size).toBe(18)
  const { body } = await api.get('/openapi.json')
  const paths: { [path: string]: object } = Object(body['paths'])
  const described = (endpoint: string) => {
    const [method = '', path = ''] = endpoint.split(' ')
    return method.toLowerCase() in (paths[path] ?? {})
  }
  expect(answered.filter((endpoint) => !described(endpoint))).toEqual([])
  console.log(`${answered.length} of ${ROWS.length} endpoints answered:\n${answered.join('\n')}`)
})
