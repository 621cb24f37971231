// Every write request accepts ?dryRun=true. A dry run is validated and planned like a real write, and leaves etcd and the
// secrets store unchanged (docs/design/admission.md#dry-runs).

import { sharedSecretsStore, uniqueName } from '@holdfast/testkit'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpKeys, type KeyDump, withoutServers } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { createStoreEye, type StoreEye } from '@holdfast/testkit/secrets/store-eye'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let platform: Platform
let acme: ApiClient
let nodeId: string
let eye: StoreEye
let tenant: string
let registry: string

beforeAll(async () => {
  platform = await ownPlatform()
  acme = platform.api(platform.acme.token)
  tenant = `/api/v1/tenants/${platform.acme.id}`
  registry = `/api/v1/registries/${platform.config.registries[0]?.host ?? ''}/credential`
  nodeId = await makeNode(platform.baseUrl, acme, 'tried')
  eye = createStoreEye({ ...(await sharedSecretsStore()), tenant: platform.acme.id })
  const body = { kind: 'Deployment', name: 'web', image: platform.image, replicas: 0 }
  expect((await acme.post('/api/v1/deployments', body)).status).toBe(201)
  expect((await acme.put('/api/v1/secrets/resources/kept', { values: { key: 'v-one' } })).status).toBe(200)
  expect((await acme.put(registry, { username: 'reader', password: 'p-one' })).status).toBe(200)
})
afterAll(() => platform.stop())

async function everything(): Promise<KeyDump> {
  return withoutServers(await dumpKeys(platform.config.etcd.endpoints[0] ?? '', `${platform.root}/`))
}

const later = () => new Date(Date.now() + 3_600_000).toISOString()
const WRITES: readonly [string, string, () => string, () => unknown, object][] = [
  ['a deployment removed', 'DELETE', () => '/api/v1/deployments/web', () => undefined, { name: 'web' }],
  [
    'a secret removed',
    'DELETE',
    () => '/api/v1/secrets/resources/kept',
    () => undefined,
    { resource: 'kept' },
  ],
  ['a credential set', 'PUT', () => registry, () => ({ username: 'a', password: 'b' }), { credential: true }],
  ['a credential removed', 'DELETE', () => registry, () => undefined, { credential: false }],
  [
    'a node cordoned',
    'POST',
    () => `/api/v1/nodes/${nodeId}/cordon`,
    () => undefined,
    { schedulable: false },
  ],
  ['a node drained', 'POST', () => `/api/v1/nodes/${nodeId}/drain`, () => undefined, { schedulable: false }],
  ['a node removed', 'DELETE', () => `/api/v1/nodes/${nodeId}`, () => undefined, { id: '' }],
  ['a join token', 'POST', () => '/api/v1/nodes/join-tokens', () => ({ nodeName: 'n1' }), { nodeName: 'n1' }],
  [
    'a token',
    'POST',
    () => `${tenant}/tokens`,
    () => ({ name: 'ci', role: 'developer', expiresAt: later() }),
    { role: 'developer' },
  ],
]

test.each(WRITES)(
  'a dry run of %s returns its plan and stores nothing',
  async (_what, method, path, body, plan) => {
    const before = await everything()
    const key = { 'idempotency-key': uniqueName('tried') }
    const answer = await acme.send(method, `${path()}?dryRun=true`, body(), method === 'POST' ? key : {})
    expect(answer.status, answer.text).toBe(200)
    const expectedPlan = 'id' in plan ? { id: nodeId } : plan
    expect(answer.body).toMatchObject({
      alterations: [],
      warnings: [],
      plan: { result: expectedPlan, steps: [] },
    })
    const { effects, result: made } = Object(answer.body['plan'])
    expect([Object.values(effects), made.token]).toEqual([Array(8).fill([]), undefined])
    expect(await everything()).toEqual(before)
    expect(await eye.read('resources/kept', 1)).toEqual({ key: 'v-one' })
  },
)

test('dry runs of creating, updating and removing a tenant return their plans and store nothing', async () => {
  const admin = platform.api()
  const before = await everything()
  const asks = [
    await admin.post('/api/v1/tenants?dryRun=true', { name: 'tried' }),
    await admin.send('PATCH', `${tenant}?dryRun=true`, { quotas: { deployments: 3 } }),
    await admin.delete(`${tenant}?dryRun=true`),
  ]
  expect(asks.map(({ status, body }) => [status, Object(body['plan']).result.deleting])).toEqual([
    [200, false],
    [200, false],
    [200, true],
  ])
  expect(await everything()).toEqual(before)
})

test('a dry run is rejected with the same codes as the real write', async () => {
  for (const query of ['', '?dryRun=true']) {
    const missing = await acme.delete(`/api/v1/deployments/nothing${query}`)
    expect([missing.status, missing.codes]).toEqual([404, ['deployment_not_found']])
    const stale = await acme.delete(`/api/v1/deployments/web${query}`, { 'if-match': '"9"' })
    expect([stale.status, stale.codes]).toEqual([412, ['revision_conflict']])
  }
})

describe('a dry run of several documents', () => {
  const manifest = (name: string, fields: object = {}) => ({
    ...{ kind: 'Deployment', name, image: platform.image, replicas: 1 },
    ...fields,
  })
  const judge = (documents: unknown) => acme.post('/api/v1/dry-run', { documents })

  test('judges each as if those that it needs were stored and ready, and stores nothing', async () => {
    const before = await everything()
    const secrets = [{ name: 'DB', vault_path: 'resources/new-one' }]
    const material = [{ ...secrets[0], generate: { keys: ['password'] } }]
    const answer = await judge([
      manifest('front', { dependsOn: { back: 'started' }, secrets }),
      manifest('back', { secrets: material }),
      { name: 'web', replicas: 0 },
      { kind: 'Deployment', name: 'web', replicas: 1 },
    ])
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body['items']).toMatchObject([
      { kind: 'Deployment', name: 'front', action: 'create', plan: { revision: 1 } },
      { kind: 'Deployment', name: 'back', action: 'create', plan: { revision: 1 } },
      { kind: 'Deployment', name: 'web', action: 'none' },
      { name: 'web', action: 'update', plan: { revision: 2, changes: [{ field: 'replicas' }] } },
    ])
    expect(await everything()).toEqual(before)
    expect(await eye.numbersOf('resources/new-one')).toEqual([])
  })

  test('returns the rejections of each rejected document, and those that need it are rejected too', async () => {
    const answer = await judge([
      manifest('needy', { dependsOn: { faulty: 'started' } }),
      manifest('faulty', { replicas: -1 }),
      manifest('sound'),
      'no document',
    ])
    const items: { name: string; rejections?: { code: string; doc: string }[] }[] = Object(
      answer.body['items'],
    )
    expect(items.map(({ name, rejections }) => [name, rejections?.map(({ code }) => code)])).toMatchObject([
      ['needy', ['dependency_not_found']],
      ['faulty', [expect.stringContaining('replicas')]],
      ['sound', undefined],
      ['', [expect.any(String)]],
    ])
    expect(items[0]?.rejections?.[0]?.doc).toBe(
      `${platform.config.publicUrl}/docs/errors/dependency_not_found`,
    )
  })

  test('rejects a body that is not a list, or a list of more than 100 documents', async () => {
    expect((await judge('all')).codes).toEqual(['field_type_invalid'])
    const many = await judge(Array.from({ length: 101 }, (_, at) => manifest(`m${at}`)))
    expect([many.status, many.codes]).toEqual([422, ['list_too_long']])
    expect((await judge([])).body).toEqual({ items: [] })
  })
})

test('every documented write accepts dryRun, except for sign-in, enrollment and exec', async () => {
  const { body } = await acme.get('/openapi.json')
  const paths: { [path: string]: { [method: string]: { parameters?: { name: string }[] } } } = Object(
    body['paths'],
  )
  const without = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['post', 'put', 'patch', 'delete'].includes(method))
      .filter(([, { parameters = [] }]) => !parameters.some(({ name }) => name === 'dryRun'))
      .map(([method]) => `${method} ${path}`),
  )
  expect(without.sort()).toEqual([
    'delete /api/v1/sign-in',
    'post /api/v1/deployments/{name}/exec',
    'post /api/v1/dry-run',
    'post /api/v1/nodes/enroll',
    'post /api/v1/sign-in',
  ])
})

test('warns of a dependency that may run on another node as soon as there is another schedulable node', async () => {
  const body = { kind: 'Deployment', name: 'caller', image: platform.image, dependsOn: { web: 'started' } }
  const warned = async (parts: object = {}) => {
    const planned = await acme.post('/api/v1/deployments?dryRun=true', { ...body, ...parts })
    expect(planned.status, planned.text).toBe(200)
    return Object(planned.body['warnings']).map(({ code, field }: { code: string; field: string }) => [
      code,
      field,
    ])
  }
  expect(await warned()).toEqual([])
  const second = await makeNode(platform.baseUrl, acme, 'second')
  expect(await warned()).toEqual([['dependency_elsewhere', 'dependsOn.web']])
  expect(await warned({ placement: { affinity: ['web'] } })).toEqual([])
  expect((await acme.post(`/api/v1/nodes/${second}/cordon`, undefined)).status).toBe(200)
  expect(await warned()).toEqual([])
  expect((await acme.delete(`/api/v1/nodes/${second}?force=true`)).status).toBe(202)
})
