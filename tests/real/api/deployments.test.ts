// The life of a deployment over HTTP: the records that each write creates, and how the API returns them.

import type { DeploymentRecord } from '@holdfast/contract'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'

let platform: Platform
let api: ApiClient
beforeAll(async () => {
  platform = await ownPlatform({ settings: { retention: { archiveRevisions: 3 } } })
  api = platform.api(platform.acme.token)
})
afterAll(() => platform.stop())

const bodyOf = (name: string, parts: object = {}) => ({
  kind: 'Deployment',
  name,
  image: platform.image,
  ...parts,
})
const read = async (name: string): Promise<DeploymentRecord> =>
  JSON.parse((await api.get(`${COLLECTION}/${name}`)).text)

/** Runs `work` and returns the folder of each key of acme that changed in etcd. */
async function changedFolders(work: () => Promise<unknown>): Promise<string[]> {
  const before = await dumpTenants(platform)
  await work()
  const after = await dumpTenants(platform)
  const changed = Object.keys(after).filter((key) => before[key]?.revision !== after[key]?.revision)
  const prefix = `${platform.root}/t/${platform.acme.id}/`
  return changed.map((key) => key.slice(prefix.length).split('/')[0] ?? '').sort()
}

test('a deployment is created, read, updated and deleted', async () => {
  const created = await api.post(COLLECTION, bodyOf('web'))
  expect([created.status, created.headers.get('etag')]).toEqual([201, '"1"'])
  const record = await read('web')
  expect(record).toMatchObject({
    kind: 'Deployment',
    name: 'web',
    replicas: 1,
    secrets: [],
    secretsVersion: 0,
    revision: 1,
    uid: expect.stringMatching(/^dep_/),
    specHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    status: { phase: 'Pending', replicas: { desired: 1, placed: 0, ready: 0 }, runningRevision: null },
    residencyLabels: {},
  })
  const changed = await api.put(`${COLLECTION}/web`, { replicas: 3 }, { 'if-match': '"1"' })
  expect(changed.body['deployment']).toMatchObject({ replicas: 3, revision: 2, uid: record.uid })
  expect((await api.put(`${COLLECTION}/web`, { replicas: 4 }, { 'if-match': '*' })).status).toBe(200)
  expect((await api.delete(`${COLLECTION}/web`, { 'if-match': '"2"' })).codes).toEqual(['revision_conflict'])
  expect((await api.delete(`${COLLECTION}/web`, { 'if-match': '"3"' })).status).toBe(202)
  await expect.poll(async () => (await api.get(`${COLLECTION}/web`)).status).toBe(404)
})

test('one accepted write is one transaction of record, slot, archive entry, event and audit entry', async () => {
  const created = await changedFolders(() => api.post(COLLECTION, bodyOf('whole')))
  expect(created).toEqual(['arc', 'aud', 'dep', 'evt', 'slot'])
  const updated = await changedFolders(() => api.put(`${COLLECTION}/whole`, { replicas: 2 }))
  expect(updated).toEqual(['arc', 'aud', 'dep', 'evt'])
  const keyed = { 'idempotency-key': 'k' }
  expect(await changedFolders(() => api.post(COLLECTION, bodyOf('keyed'), keyed))).toEqual([
    'arc',
    'aud',
    'dep',
    'evt',
    'idem',
    'slot',
  ])
  const dump = await dumpTenants(platform)
  const revisions = Object.entries(dump).filter(([key]) => key.includes('/keyed/'))
  expect(new Set(revisions.map(([, { revision }]) => revision)).size).toBe(1)
})

test('a uid is accepted in place of the deployment name', async () => {
  await api.post(COLLECTION, bodyOf('named'))
  const { uid } = await read('named')
  expect((await api.get(`${COLLECTION}/${uid}`)).body['name']).toBe('named')
  const changed = await api.put(`${COLLECTION}/${uid}`, { name: 'named', replicas: 2 })
  expect(changed.body['deployment']).toMatchObject({ name: 'named', revision: 2 })
  expect((await api.put(`${COLLECTION}/${uid}`, { name: 'other' })).codes).toEqual([
    'deployment_name_invalid',
  ])
  expect((await api.delete(`${COLLECTION}/${uid}`)).status).toBe(202)
  expect((await api.put(`${COLLECTION}/${uid}`, {})).body['field']).toBe('deployment_id')
})

test('PUT never creates a deployment', async () => {
  const sent = bodyOf('absent')
  const answer = await api.put(`${COLLECTION}/absent`, sent)
  expect([answer.status, answer.codes]).toEqual([404, ['deployment_not_found']])
  expect((await api.get(`${COLLECTION}/absent`)).status).toBe(404)
})

test('replicas 0 stops a deployment and deletes nothing', async () => {
  await api.post(COLLECTION, bodyOf('stopped'))
  await api.put(`${COLLECTION}/stopped`, { replicas: 0 })
  expect((await read('stopped')).status).toMatchObject({ phase: 'Stopped', replicas: { desired: 0 } })
})

test('the archive keeps the newest revisions of a deployment unchanged', async () => {
  await api.post(COLLECTION, bodyOf('archived'))
  for (let replicas = 2; replicas <= 5; replicas += 1) await api.put(`${COLLECTION}/archived`, { replicas })
  const { body } = await api.get('/api/v1/archives/deployments/archived')
  const entries: { revision: number; specHash: string; author: string; spec: { replicas: number } }[] =
    Object(body['items'])
  expect(entries.map(({ revision, spec }) => [revision, spec.replicas])).toEqual([
    [3, 3],
    [4, 4],
    [5, 5],
  ])
  const one = await api.get('/api/v1/archives/deployments/archived/4')
  expect(one.body).toEqual(entries[1])
  expect(entries.at(-1)?.specHash).toBe((await read('archived')).specHash)
  expect(entries[0]?.author).toBe(`tok_${platform.acme.token.split('_')[1]}`)
})

test('equal specs have equal hashes in any key order, and other specs have others', async () => {
  const { name: _name, ...rest } = bodyOf('x', { environment: { A: '1', B: '2' } })
  await api.post(COLLECTION, { name: 'hashed', ...rest })
  const before = await read('hashed')
  const same = await api.put(`${COLLECTION}/hashed`, { environment: { B: '2', A: '1' } })
  expect(same.body['deployment']).toMatchObject({ specHash: before.specHash, revision: 1 })
  const other = await api.put(`${COLLECTION}/hashed`, { environment: { A: '1', B: '3' } })
  expect(Object(other.body['deployment']).specHash).not.toBe(before.specHash)
})

test("every event of a deployment's life is listed in order with its subject", async () => {
  await api.post(COLLECTION, bodyOf('listed'))
  await api.put(`${COLLECTION}/listed`, { replicas: 2 })
  const { uid } = await read('listed')
  await api.delete(`${COLLECTION}/listed`)
  const events = async () => {
    const { body } = await api.get(`/api/v1/events?subject=${uid}`)
    return Object.values(Object(body['items'])).map((event) => [Object(event).type, Object(event).reason])
  }
  const going = ['deployment.progressing', 'deleting']
  // The event is written together with the response, before any container has stopped.
  expect(await events()).toContainEqual(going)
  await expect
    .poll(events)
    .toEqual([
      ['deployment.created', 'created'],
      ['deployment.updated', 'updated'],
      going,
      ['deployment.deleted', 'deleted'],
    ])
})

test('a deployment of one tenant does not exist for another', async () => {
  await api.post(COLLECTION, bodyOf('private'))
  const { uid } = await read('private')
  const globex = platform.api(platform.globex.token)
  expect((await globex.get(COLLECTION)).body['items']).toEqual([])
  for (const path of ['private', uid]) {
    const foreign = await globex.get(`${COLLECTION}/${path}`)
    const missing = await globex.get(
      `${COLLECTION}/${path.startsWith('dep_') ? `dep_${'0'.repeat(26)}` : 'nothing'}`,
    )
    expect([foreign.status, foreign.codes]).toEqual([missing.status, missing.codes])
  }
  expect((await globex.post(COLLECTION, bodyOf('private'))).status, 'names are per tenant').toBe(201)
})

test('a deletion and its dry run name the deployments that depend on it', async () => {
  await api.post(COLLECTION, bodyOf('needed'))
  for (const name of ['needy', 'needier'])
    await api.post(COLLECTION, bodyOf(name, { dependsOn: { needed: 'started' } }))
  const warning = {
    ...{ code: 'dependents_left', field: 'name' },
    why: expect.stringContaining('needier, needy depend on needed.'),
  }
  const planned = await api.delete(`${COLLECTION}/needed?dryRun=true`)
  expect([planned.status, planned.body['warnings']]).toEqual([200, [warning]])
  expect((await api.delete(`${COLLECTION}/needier`)).body['warnings']).toEqual([])
  const deleted = await api.delete(`${COLLECTION}/needed`)
  expect([deleted.status, deleted.body['name']]).toEqual([202, 'needed'])
  expect(deleted.body['warnings']).toEqual([
    { ...warning, why: expect.stringContaining('needy depends on needed.') },
  ])
})
