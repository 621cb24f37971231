// Volumes over HTTP on a real etcd: placing, changing, explaining and deleting, the quotas, and rejections that store
// nothing.

import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { givePool } from '@holdfast/testkit/nodes/give-pool'
import { makeVolumeReady } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { makeTenant, type Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const GIB = 1024 ** 3
const POOL = 100 * GIB

let platform: Platform
let admin: ApiClient

beforeAll(async () => {
  platform = await ownPlatform({ settings: { volumes: { enabled: true } } })
  admin = platform.api()
})
afterAll(() => platform.stop())

interface Shown {
  readonly [member: string]: unknown
  readonly id: string
  readonly copies: readonly { nodeId: string; role: string; state: string }[]
}

interface Tenant {
  readonly id: string
  readonly api: ApiClient
  readonly path: string
  readonly nodeIds: readonly string[]
}

let serial = 0

/** A tenant of its own with ready nodes, each with a pool; the first has the largest. */
async function tenantWith(nodes: number): Promise<Tenant> {
  serial += 1
  const { id, token } = await makeTenant(admin, `volumes-${serial}`)
  const api = platform.api(token)
  const nodeIds: string[] = []
  for (let at = 0; at < nodes; at += 1) {
    const nodeId = await makeNode(platform.baseUrl, api, `v${serial}-${at}`)
    await givePool(platform, id, nodeId, POOL - at * GIB)
    nodeIds.push(nodeId)
  }
  return { id, api, path: `/api/v1/tenants/${id}/volumes`, nodeIds }
}

const bodyOf = (parts: object = {}) => ({
  name: 'data',
  class: 'replicated',
  sizeBytes: GIB,
  replicas: 1,
  ...parts,
})

const volumeIn = ({ body }: ApiAnswer): Shown => Object(body['volume'] ?? body)

async function create({ api, path }: Tenant, parts: object = {}): Promise<Shown> {
  const answer = await api.post(path, bodyOf(parts))
  expect(answer.status, answer.text).toBe(201)
  return volumeIn(answer)
}

/** Expects that a request is rejected with one code at one field, and that no key of any tenant changes. */
async function expectRejected(send: () => Promise<ApiAnswer>, status: number, code: string, field: string) {
  const before = await dumpTenants(platform)
  const answer = await send()
  expect([answer.status, answer.codes, answer.body['field']], answer.text).toEqual([status, [code], field])
  expect(await dumpTenants(platform)).toEqual(before)
}

async function usedOf({ api }: Tenant, kind: string): Promise<number> {
  const items: { kind: string; used: number }[] = Object((await api.get('/api/v1/quotas')).body['items'])
  return items.find((item) => item.kind === kind)?.used ?? -1
}

test('a volume is placed on the nodes with the most free storage, stored, listed and read', async () => {
  const tenant = await tenantWith(3)
  const { api, path, nodeIds } = tenant
  const sent = await api.post(path, bodyOf({ replicas: undefined, class: 'ephemeral', name: 'scratch' }))
  expect(sent.body['alterations']).toMatchObject([{ code: 'default_applied', field: 'replicas', to: 0 }])
  const volume = await create(tenant)
  expect(volume).toMatchObject({
    name: 'data',
    phase: 'Materializing',
    reason: null,
    primary: { nodeId: nodeIds[1], nodeName: `v${serial}-1`, epoch: 1 },
    usedBytes: null,
    consumers: [],
    revision: 1,
  })
  expect(volume.copies.map(({ nodeId, role, state }) => [nodeId, role, state])).toEqual([
    [nodeIds[1], 'primary', 'seeding'],
    [nodeIds[2], 'replica', 'seeding'],
  ])
  const read = await api.get(`${path}/${volume.id}`)
  // Only a read of one volume forecasts the death of its primary's node.
  const { ifPrimaryDies, ...stored } = read.body
  expect([stored, read.headers.get('etag')]).toEqual([volume, '"1"'])
  expect(Object(ifPrimaryDies).nodeId).toBeNull()
  for (const list of [path, '/api/v1/dvm/volumes']) {
    const { body } = await api.get(list)
    expect(Object(body['items']).map(({ name }: Shown) => name)).toEqual(['data', 'scratch'])
  }
  expect(await usedOf(tenant, 'volumes')).toBe(2)
  expect(await usedOf(tenant, 'volume_bytes')).toBe(3 * GIB)
  const events = await api.get('/api/v1/events?type=volume.created')
  expect(Object(events.body['items'])).toHaveLength(2)
  const audit = await api.get('/api/v1/audit')
  expect(audit.text).toContain('volumes:create')
})

test('a volume that fits on no node waits, and why lists every node with its refusals', async () => {
  const tenant = await tenantWith(1)
  await makeNode(platform.baseUrl, tenant.api, `late-${serial}`)
  const volume = await create(tenant, { sizeBytes: 48 * GIB })
  expect(volume).toMatchObject({ phase: 'Pending', reason: 'unschedulable', primary: null, copies: [] })
  const { body } = await tenant.api.get(`${tenant.path}/${volume.id}/why`)
  const candidates: { nodeName: string; refusals: { code: string }[] }[] = Object(body['candidates'])
  expect(candidates.map(({ refusals }) => refusals.map(({ code }) => code))).toEqual([
    ['node_not_ready', 'agent_lacks_capability', 'storage_pool_missing'],
    ['insufficient_storage'],
  ])
  expect(body['summary']).toContain('0 of 2 nodes')
})

test('the number of copies follows PATCH and the endpoints of replicas', async () => {
  const tenant = await tenantWith(4)
  const { api, path, nodeIds } = tenant
  const { id } = await create(tenant)
  const one = `${path}/${id}`
  const patched = await api.send('PATCH', one, { replicas: 2 }, { 'if-match': '"1"' })
  expect([patched.status, volumeIn(patched).copies.length, patched.headers.get('etag')]).toEqual([
    200,
    3,
    '"2"',
  ])
  const added = await api.post(`${one}/replicas`, { node_id: nodeIds[3] }, { 'idempotency-key': 'one' })
  expect([added.status, added.body['replicas'], volumeIn(added).copies.at(-1)?.nodeId]).toEqual([
    202,
    3,
    nodeIds[3],
  ])
  const again = await api.post(`${one}/replicas`, { node_id: nodeIds[3] }, { 'idempotency-key': 'one' })
  expect(again.body).toEqual(added.body)
  expect(await usedOf(tenant, 'volume_bytes')).toBe(4 * GIB)
  const removed = await api.delete(`${one}/replicas/${nodeIds[3]}`)
  expect([removed.status, removed.body['replicas'], volumeIn(removed).copies.length]).toEqual([202, 2, 3])
  const unchanged = await api.send('PATCH', one, { replicas: 2 })
  expect(unchanged.body['revision']).toBe(removed.body['revision'])
  const events = await api.get('/api/v1/events?type=volume.replica_added')
  expect(Object(events.body['items'])).toHaveLength(2)
  const lowered = await api.send('PATCH', one, { replicas: 0 })
  expect(volumeIn(lowered).copies.map(({ role }) => role)).toEqual(['primary'])
  expect(await usedOf(tenant, 'volume_bytes')).toBe(GIB)
})

test('an object volume is ready at once, is resized and has no copies', async () => {
  const tenant = await tenantWith(0)
  const { id, phase } = await create(tenant, { class: 'object', replicas: 0 })
  expect(phase).toBe('Ready')
  const resized = await tenant.api.post(`${tenant.path}/${id}/resize`, { sizeBytes: 3 * GIB })
  expect([resized.status, resized.body['sizeBytes'], resized.body['phase']]).toEqual([202, 3 * GIB, 'Ready'])
  expect(await usedOf(tenant, 'volume_bytes')).toBe(3 * GIB)
})

test('a volume is deleted only after it is unmounted', async () => {
  const tenant = await tenantWith(1)
  const { api, path } = tenant
  const { id } = await create(tenant, { replicas: 0 })
  await makeVolumeReady(platform, tenant.id, id)
  const mount = { volume: id, target: '/data', type: 'volume', readOnly: true }
  const parts = { kind: 'Deployment', name: 'db', image: platform.image, replicas: 0 }
  expect((await api.post('/api/v1/deployments', { ...parts, volumes: [mount] })).status).toBe(201)
  expect((await api.get(`${path}/${id}`)).body['consumers']).toEqual(['db'])
  await expectRejected(() => api.delete(`${path}/${id}`), 409, 'volume_in_use', 'id')
  expect((await api.put('/api/v1/deployments/db', { volumes: [] })).status).toBe(200)
  const deleted = await api.delete(`${path}/${id}`)
  expect([deleted.status, deleted.body['phase']]).toEqual([202, 'Deleting'])
  expect((await api.get(`${path}/${id}`)).body['phase']).toBe('Deleting')
})

test('a volume that is on no node is deleted at once, with its name and its quota', async () => {
  const tenant = await tenantWith(0)
  const { api, path } = tenant
  const { id } = await create(tenant)
  const deleted = await api.delete(`${path}/${id}`)
  expect([deleted.status, deleted.body['phase']]).toEqual([202, 'Deleting'])
  expect((await api.get(`${path}/${id}`)).codes).toEqual(['volume_not_found'])
  expect([await usedOf(tenant, 'volumes'), await usedOf(tenant, 'volume_bytes')]).toEqual([0, 0])
  await create(tenant)
})

test('quotas of volumes and of their bytes are exact under concurrent requests', async () => {
  const tenant = await tenantWith(2)
  const { api, path, id } = tenant
  await admin.send('PATCH', `/api/v1/tenants/${id}`, { quotas: { volumes: 3, volume_bytes: 8 * GIB } })
  const several = Array.from({ length: 8 }, (_, at) => api.post(path, bodyOf({ name: `v${at}` })))
  const answers = await Promise.all(several)
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array(5).fill(409)])
  expect([await usedOf(tenant, 'volumes'), await usedOf(tenant, 'volume_bytes')]).toEqual([3, 6 * GIB])
  const created = answers.find(({ status }) => status === 201)
  if (created === undefined) throw new Error('none was created')
  const one = `${path}/${volumeIn(created).id}`
  await expectRejected(
    () => api.send('PATCH', one, { replicas: 4 }),
    409,
    'quota_exceeded',
    'quotas.volume_bytes',
  )
  await expectRejected(
    () => api.post(path, bodyOf({ name: 'late' })),
    409,
    'quota_exceeded',
    'quotas.volumes',
  )
})

test('concurrent volumes never claim more than a storage pool has', async () => {
  const tenant = await tenantWith(1)
  const several = Array.from({ length: 6 }, (_, at) =>
    tenant.api.post(tenant.path, bodyOf({ name: `v${at}`, sizeBytes: 20 * GIB, replicas: 0 })),
  )
  const phases = (await Promise.all(several)).map((answer) => String(volumeIn(answer)['phase']))
  // The pool of 100 GiB less 5 % holds two volumes that claim 40 GiB each.
  expect(phases.sort()).toEqual(['Materializing', 'Materializing', ...Array(4).fill('Pending')])
})

test('the list of snapshots is empty, and a viewer cannot ask for one', async () => {
  const tenant = await tenantWith(0)
  const { api, path, id } = tenant
  const snapshots = `${path}/${(await create(tenant)).id}/snapshots`
  expect((await api.get(snapshots)).body).toEqual({ items: [], nextCursor: null })
  const viewer = platform.api(await makeToken(admin, id, 'viewer'))
  await expectRejected(() => viewer.post(snapshots, {}), 403, 'permission_denied', 'Authorization')
})

test('a dry run plans the volume and the lost data and stores nothing', async () => {
  const tenant = await tenantWith(2)
  const { api, path } = tenant
  const { id } = await create(tenant)
  const before = await dumpTenants(platform)
  const planned = await api.post(`${path}?dryRun=true`, { ...bodyOf({ name: 'other' }), replicas: undefined })
  expect(planned.status, planned.text).toBe(200)
  expect(planned.body['alterations']).toMatchObject([{ code: 'default_applied' }])
  const { plan } = Object(planned.body)
  expect([plan.result.volume.phase, plan.effects.lostData]).toEqual(['Materializing', []])
  const deleted = await api.delete(`${path}/${id}?dryRun=true`)
  expect(Object(deleted.body['plan']).effects.lostData).toMatchObject([{ volume: 'data' }])
  expect(await dumpTenants(platform)).toEqual(before)
})

test('roles: a viewer reads and does not write, a developer writes', async () => {
  const tenant = await tenantWith(0)
  const [viewer, developer] = await Promise.all(
    ['viewer', 'developer'].map(async (role) => platform.api(await makeToken(admin, tenant.id, role))),
  )
  if (viewer === undefined || developer === undefined) throw new Error('no clients')
  await expectRejected(() => viewer.post(tenant.path, bodyOf()), 403, 'permission_denied', 'Authorization')
  expect((await developer.post(tenant.path, bodyOf())).status).toBe(201)
  expect((await viewer.get(tenant.path)).status).toBe(200)
})

test('a platform without volumes has no endpoint for them', async () => {
  const plain = await ownPlatform()
  const api = plain.api(plain.acme.token)
  for (const path of ['/api/v1/dvm/volumes', `/api/v1/tenants/${plain.acme.id}/volumes`])
    expect((await api.get(path)).codes).toEqual(['not_found'])
  await plain.stop()
})
