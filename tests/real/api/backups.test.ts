// Backups over HTTP: their records, what a restore stores and checks, quotas, dry runs and the versions of secrets.

import type { BackupRecord, DeploymentRecord, TenantId } from '@holdfast/contract'
import { deployments } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { sharedRegistry, uniqueRepository } from '@holdfast/testkit'
import { eventsOf } from '@holdfast/testkit/nodes/read-events'
import { storeReadyVolume } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const DEPLOYMENTS = '/api/v1/deployments'
const BACKUPS = '/api/v1/backups'
const VOLUME = 'vol_01JD0000000000000000000000'

let platform: Platform
let api: ApiClient
beforeAll(async () => {
  platform = await sharedPlatform()
  api = platform.api(platform.acme.token)
  await storeReadyVolume(platform, platform.acme.id, VOLUME)
})
afterAll(() => platform.stop())

const deploymentOf = ({ body, text }: ApiAnswer): DeploymentRecord => {
  if (body['deployment'] === undefined) throw new Error(text)
  return Object(body['deployment'])
}
const make = async (name: string, parts: object = {}): Promise<DeploymentRecord> =>
  deploymentOf(
    await api.post(DEPLOYMENTS, {
      kind: 'Deployment',
      name,
      image: platform.image,
      replicas: 0,
      ...parts,
    }),
  )
const change = async (name: string, sent: object): Promise<DeploymentRecord> =>
  deploymentOf(await api.put(`${DEPLOYMENTS}/${name}`, sent))
async function backUp(deploymentName: string): Promise<string> {
  const { status, body, text } = await api.post(BACKUPS, { deploymentName })
  if (status !== 201) throw new Error(text)
  return String(body['id'])
}
const readBackup = async (id: string): Promise<BackupRecord> =>
  JSON.parse((await api.get(`${BACKUPS}/${id}`)).text)
const restore = (id: string, headers = {}, query = '') =>
  api.send('POST', `${BACKUPS}/${id}/restore${query}`, undefined, headers)
async function removed(name: string): Promise<void> {
  expect((await api.delete(`${DEPLOYMENTS}/${name}`)).status).toBe(202)
  await expect.poll(async () => (await api.get(`${DEPLOYMENTS}/${name}`)).status).toBe(404)
}
async function unchangedBy(work: () => Promise<void>): Promise<void> {
  const before = await dumpTenants(platform)
  await work()
  expect(await dumpTenants(platform)).toEqual(before)
}

describe('a backup', () => {
  test('is created, listed, read and deleted', async () => {
    await make('web', { args: ['1'] })
    const { specHash } = await change('web', { args: ['2'] })
    const created = await api.post(BACKUPS, { deploymentName: 'web' })
    expect([created.status, created.headers.get('etag')]).toEqual([201, '"1"'])
    const id = String(created.body['id'])
    expect(created.body).toEqual({
      id: expect.stringMatching(/^bak_/),
      deploymentName: 'web',
      createdAt: expect.any(String),
      deploymentRevision: 2,
      specHash,
      revisionCount: 2,
      revisionsOmitted: 0,
      sizeBytes: expect.any(Number),
    })
    const listed = await api.get(BACKUPS)
    expect(listed.body['items']).toEqual([created.body])
    const read = await readBackup(id)
    expect(read).toMatchObject({ ...created.body, scalingPolicy: null, canary: null })
    expect(read.spec).toMatchObject({ kind: 'Deployment', name: 'web', args: ['2'] })
    const { body } = await api.get('/api/v1/archives/deployments/web')
    expect(read.revisions).toEqual(body['items'])
    const removal = await api.delete(`${BACKUPS}/${id}`)
    expect([removal.status, removal.body]).toEqual([202, created.body])
    expect((await api.get(`${BACKUPS}/${id}`)).codes).toEqual(['backup_not_found'])
    expect((await api.get(BACKUPS)).body['items']).toEqual([])
    const left = Object.keys(await dumpTenants(platform)).filter((key) => /\/bak|slot\/backups/.test(key))
    expect(left).toEqual([])
    const types = (await eventsOf(api, id)).map(({ type }) => type)
    expect(types).toEqual(['backup.created', 'backup.deleted'])
    const audited = Object((await api.get('/api/v1/audit')).body['items'])
    const actions = audited
      .filter(({ subject }: { subject: { name: string } }) => subject.name === id)
      .map(({ action }: { action: string }) => action)
    expect(actions.sort()).toEqual(['backups:create', 'backups:delete'])
  })

  test('of several parts is read back as it was', async () => {
    const long = `"quoted" \\ ü€😀 ${'x'.repeat(150_000)}`
    await make('large', { args: [long] })
    for (const more of ['1', '2', '3']) await change('large', { args: [long, more] })
    const id = await backUp('large')
    const parts = Object.entries(await dumpTenants(platform)).filter(([key]) =>
      key.includes(`/bakpart/${id}/`),
    )
    expect(parts.length).toBeGreaterThanOrEqual(3)
    for (const [, { value }] of parts)
      expect(Buffer.byteLength(JSON.parse(value).text)).toBeLessThanOrEqual(256 * 1024)
    const { revisions, spec } = await readBackup(id)
    expect(spec.args).toEqual([long, '3'])
    expect(revisions.map((each) => each.spec.args)).toEqual([[long], [long, '1'], [long, '2'], [long, '3']])
  })

  test('is created once for one Idempotency-Key', async () => {
    await make('once')
    const send = () => api.post(BACKUPS, { deploymentName: 'once' }, { 'idempotency-key': 'backup-once' })
    const [first, second] = await Promise.all([send(), send()])
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.text).toBe(first.text)
    expect((await send()).text).toBe(first.text)
    expect((await eventsOf(api, 'once')).filter(({ type }) => type === 'backup.created')).toHaveLength(1)
    const drafts = Object.keys(await dumpTenants(platform)).filter((key) => key.includes('/bakdraft/'))
    expect(drafts).toEqual([])
  })

  test('quotas are exact under concurrent requests, and deleting one frees a slot', async () => {
    const admin = platform.api()
    const tenant = { 'x-tenant-id': platform.globex.id }
    await admin.send('PATCH', `/api/v1/tenants/${platform.globex.id}`, { quotas: { backups: 2 } })
    const globex = platform.api(platform.globex.token)
    await globex.post(DEPLOYMENTS, { kind: 'Deployment', name: 'only', image: platform.image, replicas: 0 })
    const sent = Array.from({ length: 6 }, () => globex.post(BACKUPS, { deploymentName: 'only' }))
    const statuses = (await Promise.all(sent)).map(({ status }) => status).sort()
    expect(statuses).toEqual([201, 201, 409, 409, 409, 409])
    const full = await globex.post(BACKUPS, { deploymentName: 'only' })
    expect([full.codes, full.body['field']]).toEqual([['quota_exceeded'], 'quotas.backups'])
    const [first] = Object((await globex.get(BACKUPS)).body['items'])
    expect((await globex.delete(`${BACKUPS}/${first.id}`)).status).toBe(202)
    expect((await globex.post(BACKUPS, { deploymentName: 'only' })).status).toBe(201)
    const { body } = await admin.get('/api/v1/quotas', tenant)
    expect(body['items']).toContainEqual({ kind: 'backups', used: 2, limit: 2 })
  })

  test('that would exceed the byte quota is rejected and stores nothing', async () => {
    const { body } = await platform.api().post('/api/v1/tenants', { name: 'tight' })
    const tenant = { 'x-tenant-id': String(body['id']) }
    const admin = platform.api()
    await admin.post(
      DEPLOYMENTS,
      { kind: 'Deployment', name: 'wordy', image: platform.image, replicas: 0, args: ['x'.repeat(50_000)] },
      tenant,
    )
    const quotas = { stored_bytes: 200_000 }
    await admin.send('PATCH', `/api/v1/tenants/${body['id']}`, { quotas })
    await unchangedBy(async () => {
      const full = await admin.post(BACKUPS, { deploymentName: 'wordy' }, tenant)
      expect([full.codes, full.body['field']]).toEqual([['quota_exceeded'], 'quotas.stored_bytes'])
    })
  })
})

describe('a dry run', () => {
  test('of a create, a restore and a delete stores nothing', async () => {
    await make('planned', { args: ['1'] })
    const id = await backUp('planned')
    await change('planned', { args: ['2'] })
    await unchangedBy(async () => {
      const created = await api.post(`${BACKUPS}?dryRun=true`, { deploymentName: 'planned' })
      expect(created.body['plan']).toMatchObject({
        result: { deploymentName: 'planned', deploymentRevision: 2 },
        effects: { moves: [], restarts: [], stops: [] },
      })
      const restored = await restore(id, {}, '?dryRun=true')
      expect(restored.body['plan']).toMatchObject({
        action: 'update',
        revision: 3,
        changes: [{ field: 'args', from: ['2'], to: ['1'] }],
      })
      const deleted = await api.send('DELETE', `${BACKUPS}/${id}?dryRun=true`)
      expect(deleted.body['plan']).toMatchObject({ result: { id } })
    })
    await removed('planned')
    await unchangedBy(async () => {
      const recreated = await restore(id, {}, '?dryRun=true')
      expect(recreated.body['plan']).toMatchObject({ action: 'create', revision: 1 })
    })
  })
})

describe('a restore', () => {
  test('of a changed deployment is a new revision with every field of the backup', async () => {
    const before = await make('shop', { environment: { A: '1' }, args: ['one'] })
    const id = await backUp('shop')
    await change('shop', { environment: null, args: null, labels: { tier: 'gold' } })
    const stale = await restore(id, { 'if-match': '"1"' })
    expect(stale.codes).toEqual(['revision_conflict'])
    const { status, headers, body } = await restore(id, { 'if-match': '"2"' })
    expect([status, headers.get('etag')]).toEqual([200, '"3"'])
    const { deployment } = Object(body)
    expect(deployment).toMatchObject({ uid: before.uid, specHash: before.specHash, environment: { A: '1' } })
    expect('labels' in deployment).toBe(false)
    const { type, reason, data } = (await eventsOf(api, 'shop')).findLast(
      (event) => event.type === 'deployment.updated',
    ) ?? { data: {} }
    expect([type, reason, data]).toMatchObject(['deployment.updated', 'restored', { backup: id }])
    expect(await eventsOf(api, id)).toMatchObject([
      { type: 'backup.created' },
      { type: 'backup.restored', reason: 'updated', data: { deploymentName: 'shop', revision: 3 } },
    ])
    const audited = Object((await api.get('/api/v1/audit')).body['items'])
    expect(audited).toContainEqual(
      expect.objectContaining({ action: 'deployments:restored', detail: { backup: id }, revision: 3 }),
    )
  })

  test('of a deleted deployment creates it again, and is rejected while the old one is being deleted', async () => {
    const before = await make('gone', { args: ['kept'] })
    const id = await backUp('gone')
    await removed('gone')
    expect((await restore(id, { 'if-match': '"1"' })).codes).toEqual(['revision_conflict'])
    const restored = deploymentOf(await restore(id))
    expect(restored).toMatchObject({ name: 'gone', revision: 1, args: ['kept'], specHash: before.specHash })
    expect(restored.uid).not.toBe(before.uid)
    const { store } = platform.server
    await store.transact((transaction) => {
      const address = inTenant(platform.acme.id as TenantId, deployments, 'gone')
      const record = transaction.get(address)
      if (record !== undefined) transaction.put(address, { ...record, deleting: true })
      return { kind: 'commit', result: undefined }
    })
    await unchangedBy(async () => expect((await restore(id)).codes).toEqual(['deployment_exists']))
  })

  test('passes admission again and stores nothing if it is rejected', async () => {
    const route = { host: 'restored.example', path: '/', port: 80 }
    await make('needed')
    await make('routed', { routes: [route], dependsOn: { needed: 'started' } })
    const id = await backUp('routed')
    await change('routed', { routes: null, dependsOn: null })
    await removed('needed')
    await make('rival', { routes: [route] })
    await unchangedBy(async () => {
      const answer = await restore(id)
      expect(answer.codes).toEqual(['dependency_not_found', 'route_conflict'])
    })
    await removed('routed')
    await unchangedBy(async () =>
      expect((await restore(id)).codes).toEqual(['dependency_not_found', 'route_conflict']),
    )
  })

  test('keeps the digest of the image, although its tag has moved', async () => {
    const registry = await sharedRegistry()
    const repository = uniqueRepository()
    const { reference, digest } = await registry.pushSampleImage(repository, '1.0')
    const { status } = await make('tagged', { image: reference })
    expect(status.image.digest).toBe(digest)
    const id = await backUp('tagged')
    await registry.moveTag(repository, '1.0')
    for (const gone of [false, true]) {
      if (gone) await removed('tagged')
      const restored = await restore(id)
      expect(deploymentOf(restored).status.image).toEqual({ reference, digest })
      expect(restored.body['alterations']).toEqual([])
    }
  })

  test('is executed once for one Idempotency-Key', async () => {
    await make('repeat')
    const id = await backUp('repeat')
    const first = await restore(id, { 'idempotency-key': 'restore-repeat' })
    const second = await restore(id, { 'idempotency-key': 'restore-repeat' })
    expect([first.status, second.text]).toEqual([200, first.text])
    expect(deploymentOf(await api.put(`${DEPLOYMENTS}/repeat`, {})).revision).toBe(2)
  })
})

describe('the secrets of a restored deployment', () => {
  const path = (label: string) => `/api/v1/secrets/resources/${label}`
  const pinsOf = async (name: string) => {
    const { store } = platform.server
    await store.fresh()
    return store.get(inTenant(platform.acme.id as TenantId, deployments, name))?.record.pins
  }
  const write = async (label: string, password: string) => {
    const { status, text } = await api.put(path(label), { values: { password } })
    if (status !== 200) throw new Error(text)
  }
  const versionsOf = async (label: string): Promise<number[]> => {
    const { body } = await api.get('/api/v1/secrets')
    const items: { resource: string; versions: { version: number }[] }[] = Object(body['items'])
    return items.find(({ resource }) => resource === label)?.versions.map(({ version }) => version) ?? []
  }

  test('use the newest version, and those anchored to a volume the version of the backup', async () => {
    await write('anchored', 'first')
    await write('free', 'first')
    await write('anchored', 'second')
    const secrets = [
      { name: 'DB', vault_path: 'resources/anchored', anchor: `volume(${VOLUME})` },
      { name: 'API', vault_path: 'resources/free', anchor: 'external' },
    ]
    const volumes = [{ volume: VOLUME, target: '/data', type: 'volume', readOnly: false }]
    await make('ledger', { secrets, volumes })
    expect(await pinsOf('ledger')).toEqual({ anchored: 2 })
    const id = await backUp('ledger')
    await removed('ledger')
    // Without the backup, writing a version would destroy the unused version 2.
    for (const label of ['anchored', 'free'])
      for (const value of ['third', 'fourth']) await write(label, value)
    expect(await versionsOf('anchored')).toEqual([2, 4])
    expect(await versionsOf('free')).toEqual([3])
    const restored = await restore(id)
    expect(restored.status, restored.text).toBe(200)
    expect(await pinsOf('ledger')).toEqual({ anchored: 2, free: 3 })
    const pinned = Object(restored.body['alterations']).filter(
      ({ code }: { code: string }) => code === 'secret_version_pinned',
    )
    expect(pinned).toMatchObject([{ field: 'secrets[1].vault_path', to: 3 }])
  })
})
