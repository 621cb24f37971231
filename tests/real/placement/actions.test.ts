// Restart and rollback of a deployment over HTTP: the stored records, the plan of a dry run, and the history of
// revisions.

import {
  type ArchiveEntry,
  type AssignmentId,
  type DeploymentRecord,
  type DeploymentUid,
  type Effects,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { archiveId } from '@holdfast/server/operations/deployments/write/store-deployment'
import { archive, deployments, nodes, observations } from '@holdfast/server/store/records'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { sharedRegistry, uniqueRepository } from '@holdfast/testkit'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { eventsOf, typesOf } from '@holdfast/testkit/nodes/read-events'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'

let platform: Platform
let api: ApiClient
let nodeId: string
beforeAll(async () => {
  platform = await ownPlatform()
  api = platform.api(platform.acme.token)
  nodeId = await makeNode(platform.baseUrl, api, 'machine')
})
afterAll(() => platform.stop())

const bodyOf = (name: string, parts: object = {}) => ({
  kind: 'Deployment',
  name,
  image: platform.image,
  ...parts,
})
const make = async (name: string, parts: object = {}): Promise<DeploymentRecord> =>
  deploymentOf(await api.post(COLLECTION, bodyOf(name, parts)))
const deploymentOf = ({ body, text }: ApiAnswer): DeploymentRecord => {
  if (body['deployment'] === undefined) throw new Error(text)
  return Object(body['deployment'])
}
const restart = (name: string, headers = {}, query = '') =>
  api.send('POST', `${COLLECTION}/${name}/restart${query}`, undefined, headers)
const rollBack = (name: string, revision: unknown, headers = {}, query = '') =>
  api.post(`${COLLECTION}/${name}/rollback${query}`, { revision }, headers)
const archived = async (name: string): Promise<ArchiveEntry[]> =>
  Object((await api.get(`/api/v1/archives/deployments/${name}`)).body['items'])
async function storedOf(name: string) {
  const { store } = platform.server
  await store.fresh()
  return store.get(inTenant(platform.acme.id as TenantId, deployments, name))?.record
}

/** Rewrites an archived revision in its old form, without the image digest. */
async function forgetDigest(name: string, revision: number): Promise<void> {
  const entry = (await archived(name)).find((each) => each.revision === revision)
  if (entry === undefined) throw new Error('no such entry')
  const { digest: _digest, ...rest } = entry
  await platform.server.store.transact((transaction) => {
    const address = inTenant(platform.acme.id as TenantId, archive, archiveId(name, revision))
    transaction.put(address, { v: 1, ...rest, tx: transaction.id })
    return { kind: 'commit', result: undefined }
  })
}

describe('restarting a deployment', () => {
  test('makes a revision with the same spec', async () => {
    const created = await make('again', { replicas: 2, environment: { A: '1' } })
    const { status, body, headers } = await restart('again')
    expect([status, headers.get('etag')]).toEqual([200, '"2"'])
    expect(body).toMatchObject({ alterations: [], warnings: [] })
    expect(body['deployment']).toMatchObject({ revision: 2, specHash: created.specHash, replicas: 2 })
    expect((await storedOf('again'))?.restartRevision).toBe(2)
    expect((await archived('again')).map(({ revision, specHash }) => [revision, specHash])).toEqual([
      [1, created.specHash],
      [2, created.specHash],
    ])
    expect(await typesOf(api, created.uid)).toEqual([
      'deployment.created created',
      'deployment.updated restarted',
    ])
    const audit: { action: string; revision?: number }[] = Object(
      (await api.get('/api/v1/audit')).body['items'],
    )
    expect(audit.at(0)).toMatchObject({ action: 'deployments:restarted', revision: 2 })
    // A later revision without a restart keeps `restartRevision`, because its containers were created by that restart.
    await api.put(`${COLLECTION}/again`, { replicas: 3 })
    expect(await storedOf('again')).toMatchObject({ revision: 3, restartRevision: 2 })
    expect((await restart('again')).status).toBe(200)
    expect(await storedOf('again')).toMatchObject({ revision: 4, restartRevision: 4 })
  })

  test('honors If-Match, Idempotency-Key and the uid, and is rejected for a missing deployment', async () => {
    const { uid } = await make('careful')
    expect((await restart('careful', { 'if-match': '"7"' })).codes).toEqual(['revision_conflict'])
    expect((await restart(uid, { 'if-match': '"1"' })).status).toBe(200)
    const key = { 'idempotency-key': 'once' }
    const [first, second] = [await restart('careful', key), await restart('careful', key)]
    expect(second.text).toBe(first.text)
    expect((await storedOf('careful'))?.revision).toBe(3)
    expect((await rollBack('careful', 1, key)).codes).toEqual(['idempotency_key_reused'])
    expect((await restart('missing')).codes).toEqual(['deployment_not_found'])
    expect((await restart(`dep_${'0'.repeat(26)}`)).body['field']).toBe('deployment_id')
    expect((await api.send('POST', `${COLLECTION}/careful/restart`, {})).codes).toEqual(['body_malformed'])
  })

  test('is allowed for a developer and not for a viewer', async () => {
    await make('guarded')
    const as = async (role: string) => platform.api(await makeToken(platform.api(), platform.acme.id, role))
    const [viewer, developer] = [await as('viewer'), await as('developer')]
    for (const path of ['restart', 'rollback?dryRun=true']) {
      const body = path.startsWith('rollback') ? { revision: 1 } : undefined
      expect((await viewer.post(`${COLLECTION}/guarded/${path}`, body)).codes).toEqual(['permission_denied'])
      expect((await developer.post(`${COLLECTION}/guarded/${path}`, body)).status).toBe(200)
    }
  })

  test('and an update that adds no bytes pass a full byte quota, and a larger spec does not', async () => {
    const { body } = await platform.api().post('/api/v1/tenants', { name: 'narrow' })
    const tenant = String(body['id'])
    const narrow = platform.api(await makeToken(platform.api(), tenant, 'tenant-admin'))
    await narrow.post(COLLECTION, bodyOf('web'))
    await platform.api().send('PATCH', `/api/v1/tenants/${tenant}`, { quotas: { stored_bytes: 1 } })
    expect((await narrow.send('POST', `${COLLECTION}/web/restart`)).status).toBe(200)
    expect((await narrow.put(`${COLLECTION}/web`, { replicas: 0 })).status).toBe(200)
    const larger = await narrow.put(`${COLLECTION}/web`, { args: ['one more'] })
    expect([larger.status, larger.body['field']]).toEqual([409, 'quotas.stored_bytes'])
  })
})

describe('rolling back a deployment', () => {
  test('stores the archived spec again: fields that it had not are cleared, and nothing else changes', async () => {
    const first = await make('back', { replicas: 2, environment: { A: '1' } })
    await api.put(`${COLLECTION}/back`, {
      replicas: 5,
      environment: { B: '2' },
      labels: { a: 'b' },
      command: ['true'],
      healthCheck: { type: 'exec', command: ['test', '-e', '/x'] },
    })
    const answer = await rollBack('back', 1)
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"3"'])
    const record = deploymentOf(answer)
    expect(record).toMatchObject({
      revision: 3,
      replicas: 2,
      environment: { A: '1' },
      specHash: first.specHash,
    })
    expect(Object.keys(record)).not.toEqual(expect.arrayContaining(['labels']))
    expect(record.healthCheck).toBeUndefined()
    expect((await archived('back')).map(({ revision }) => revision)).toEqual([1, 2, 3])
    const emitted = (await eventsOf(api, first.uid)).at(-1)
    expect(emitted).toMatchObject({
      type: 'deployment.updated',
      reason: 'rolled_back',
      data: { restored: 1 },
    })
    const audit: { action: string }[] = Object((await api.get('/api/v1/audit')).body['items'])
    expect(audit.at(0)?.action).toBe('deployments:rolled_back')
    // A rollback may name revision 2 although revision 3 was already a rollback to revision 1.
    expect(deploymentOf(await rollBack('back', 2))).toMatchObject({
      revision: 4,
      replicas: 5,
      labels: { a: 'b' },
    })
  })

  test('to the current revision makes a new one too', async () => {
    const { uid } = await make('standing')
    expect(deploymentOf(await rollBack(uid, 1)).revision).toBe(2)
  })

  test('uses the digest of the old revision, though its tag has moved since', async () => {
    const registry = await sharedRegistry()
    const repository = uniqueRepository()
    const { reference, digest } = await registry.pushSampleImage(repository, '1.0')
    await make('pinned', { image: reference })
    await api.put(`${COLLECTION}/pinned`, { image: platform.image })
    await registry.moveTag(repository, '1.0')
    expect((await archived('pinned'))[0]?.digest).toBe(digest)
    const back = await rollBack('pinned', 1)
    expect(deploymentOf(back).status.image).toEqual({ reference, digest })
    expect(back.body['alterations']).toEqual([])
    // Without a digest in the archived revision, the rollback resolves the tag again and reports this as an alteration.
    await forgetDigest('pinned', 1)
    await api.put(`${COLLECTION}/pinned`, { image: platform.image })
    const resolvedAgain = await rollBack('pinned', 1)
    expect(resolvedAgain.body['alterations']).toMatchObject([{ code: 'image_digest_resolved' }])
  })

  test('to an image that the registry no longer has is rejected', async () => {
    const registry = await sharedRegistry()
    const repository = uniqueRepository()
    const { reference, digest } = await registry.pushSampleImage(repository, '1.0')
    await make('bygone', { image: reference })
    await api.put(`${COLLECTION}/bygone`, { image: platform.image })
    await registry.moveTag(repository, '1.0')
    await registry.deleteManifest(repository, digest)
    const answer = await rollBack('bygone', 1)
    expect([answer.codes, answer.body['received']]).toEqual([['image_not_found'], reference])
  })

  test('passes the ordinary admission, and stores nothing if it is rejected', async () => {
    const gone = await makeNode(platform.baseUrl, api, 'passing')
    await make('placed', { nodeId: gone })
    await make('needed')
    await make('needing', { dependsOn: { needed: 'started' } })
    await api.put(`${COLLECTION}/placed`, { nodeId: null })
    await api.put(`${COLLECTION}/needing`, { dependsOn: null })
    expect((await api.delete(`/api/v1/nodes/${gone}`)).status).toBe(202)
    expect((await api.delete(`${COLLECTION}/needed`)).status).toBe(202)
    await expect.poll(async () => (await api.get(`${COLLECTION}/needed`)).status).toBe(404)
    const before = await dumpTenants(platform)
    expect((await rollBack('placed', 1)).codes).toEqual(['node_not_a_placement_candidate'])
    expect((await rollBack('needing', 1)).codes).toEqual(['dependency_not_found'])
    expect((await rollBack('placed', 9)).codes).toEqual(['archive_not_found'])
    expect((await rollBack('missing', 1)).codes).toEqual(['deployment_not_found'])
    expect((await rollBack('placed', 1.5)).codes).toEqual(['field_type_invalid'])
    expect((await rollBack('placed', 2, { 'if-match': '"1"' })).codes).toEqual(['revision_conflict'])
    expect((await api.post(`${COLLECTION}/placed/rollback`, { revision: 1, x: 1 })).codes).toEqual([
      'field_unknown',
    ])
    expect(await dumpTenants(platform)).toEqual(before)
  })

  test('twice with one Idempotency-Key is done once', async () => {
    await make('twice')
    await api.put(`${COLLECTION}/twice`, { replicas: 4 })
    const key = { 'idempotency-key': 'back-once' }
    const [first, second] = await Promise.all([rollBack('twice', 1, key), rollBack('twice', 1, key)])
    expect(second.text).toBe(first.text)
    expect((await storedOf('twice'))?.revision).toBe(3)
  })
})

/** Writes the records of a replica that runs on the node, as its controller and agent would. */
async function place(name: string, templateHash: string, ready: readonly boolean[]): Promise<void> {
  const { store } = platform.server
  const tenant = platform.acme.id as TenantId
  const uid = ((await storedOf(name))?.uid ?? '') as DeploymentUid
  const at = '2026-01-01T00:00:00.000Z'
  const assignments = ready.map((_, index) => ({
    id: `rep_${uid.slice(4, -2)}0${index}` as AssignmentId,
    replica: index + 1,
    nodeId: nodeId as NodeId,
    revision: 1,
    templateHash,
    assignedAt: at,
    desired: 'running' as const,
  }))
  const owner = ownerOf('deployment', uid)
  await store.transact((transaction) => {
    const node = transaction.get(inTenant(tenant, nodes, nodeId))
    if (node !== undefined) transaction.put(inTenant(tenant, nodes, nodeId), { ...node, status: 'ready' })
    transaction.put(placementAt(tenant, owner), {
      v: 1,
      owner,
      name,
      revision: 1,
      everAssigned: true,
      assignments,
      templates: {},
      reportedRefusals: '',
      reportedPhase: '',
    })
    assignments.forEach(({ id }, index) => {
      transaction.put(inTenant(tenant, observations, id), {
        v: 1,
        assignmentId: id,
        generation: 1,
        seq: 1,
        state: ready[index] ? 'ready' : 'starting',
        containerId: null,
        startedAt: null,
        exitCode: null,
        restarts: 0,
        reason: '',
        gone: false,
        owner,
        nodeId: nodeId as NodeId,
        at,
      })
    })
    return { kind: 'commit', result: undefined }
  })
  await store.fresh()
}

interface ReturnedPlan {
  readonly action: string
  readonly revision: number
  readonly changes: { readonly field: string }[]
  readonly steps: object[]
  readonly effects: Effects
  readonly rollout: { readonly lowestReady: number; readonly summary: string }
}
const planOf = ({ body }: ApiAnswer): ReturnedPlan => Object(body['plan'])

describe('a dry run', () => {
  test('lists which replicas would be recreated, in which order, and stores nothing', async () => {
    await make('planned', { replicas: 2 })
    await place('planned', 'what-it-was', [true, true])
    const before = await dumpTenants(platform)
    const changed = planOf(await api.put(`${COLLECTION}/planned?dryRun=true`, { environment: { A: 'b' } }))
    expect(changed).toMatchObject({ action: 'update', revision: 2, changes: [{ field: 'environment' }] })
    expect(changed.rollout).toMatchObject({ order: 'start-first', parallelism: 1, lowestReady: 2 })
    expect(changed.steps).toMatchObject([
      {
        kind: 'replace',
        replicas: [{ replica: 1, nodeId, nodeName: 'machine', from: 'machine', reason: 'template_changed' }],
        lowestReady: 2,
      },
      { replicas: [{ replica: 2 }], lowestReady: 2 },
    ])
    expect(changed.effects).toEqual({
      moves: [],
      restarts: [1, 2].map((replica) => ({
        ...{ deployment: 'planned', replica, from: 'machine', to: 'machine', reason: 'template_changed' },
      })),
      stops: [],
      unplaced: [],
      unrouted: [],
      lostData: [],
      lowestReady: [
        {
          ...{ deployment: 'planned', ready: 2, desired: 2 },
          reason: 'Each old replica serves until its successor is ready.',
        },
      ],
      omitted: [],
    })
    const update = { order: 'stop-first', parallelism: 2, failureAction: 'pause', progressDeadline: '60s' }
    const hard = planOf(
      await api.put(`${COLLECTION}/planned?dryRun=true`, { environment: { A: 'b' }, update }),
    )
    expect(hard).toMatchObject({
      rollout: { lowestReady: 0 },
      steps: [{ replicas: [{}, {}], lowestReady: 0 }],
    })
    const again = planOf(await restart('planned', {}, '?dryRun=true'))
    expect(again).toMatchObject({ action: 'update', revision: 2, changes: [] })
    expect(again.steps).toMatchObject([{ replicas: [{ reason: 'restart' }] }, { replicas: [{}] }])
    const back = await rollBack('planned', 1, {}, '?dryRun=true')
    expect(Object.keys(back.body).sort()).toEqual(['alterations', 'plan', 'warnings'])
    expect(planOf(back)).toMatchObject({ action: 'update', revision: 2, changes: [] })
    const stopped = planOf(await api.put(`${COLLECTION}/planned?dryRun=true`, { replicas: 0 }))
    expect(stopped.steps).toMatchObject([{ kind: 'stop', replicas: [{}, {}] }])
    expect(stopped.effects.stops).toHaveLength(2)
    const drained = planOf(await api.post(`/api/v1/nodes/${nodeId}/drain?dryRun=true`, undefined))
    expect(drained.effects).toMatchObject({ moves: [], unplaced: [{ deployment: 'planned', replicas: 1 }] })
    const removed = planOf(await api.delete(`/api/v1/nodes/${nodeId}?dryRun=true&force=true`))
    expect(removed.effects.stops.map(({ replica, reason }) => [replica, reason])).toEqual([
      [1, 'node_lost'],
      [2, 'node_lost'],
    ])
    const gone = planOf(await api.delete(`${COLLECTION}/planned?dryRun=true`))
    expect(gone.effects.stops.map(({ reason }) => reason)).toEqual(['not_desired', 'not_desired'])
    const idle = planOf(await api.post(`/api/v1/nodes/${nodeId}/cordon?dryRun=true`, undefined))
    expect(Object.values(idle.effects)).toEqual(Array(8).fill([]))
    expect(await dumpTenants(platform)).toEqual(before)
  })

  test('of a create has no rollout', async () => {
    const { status, body } = await api.post(`${COLLECTION}?dryRun=true`, bodyOf('unmade'))
    expect([status, Object.keys(Object(body['plan'])).sort()]).toEqual([
      200,
      ['action', 'changes', 'effects', 'placement', 'revision', 'steps'],
    ])
  })
})

test('the timeline of a deployment is newest first, each step with its request', async () => {
  await make('storied')
  await api.put(`${COLLECTION}/storied`, { replicas: 3, environment: { A: 'b' } })
  await restart('storied')
  await restart('storied')
  await rollBack('storied', 1)
  const { body } = await api.get(`${COLLECTION}/storied/status`)
  const timeline: { message: string; count: number }[] = Object(body['timeline'])
  expect(timeline.map(({ message, count }) => `${count} ${message}`)).toEqual([
    '1 Deployment storied was rolled back to revision 1, stored as revision 5 (replicas, environment).',
    '1 Deployment storied is restarted, revision 4.',
    '1 Deployment storied is restarted, revision 3.',
    '1 Deployment storied was updated, revision 2 (replicas, environment).',
    '1 Deployment storied was created, revision 1.',
  ])
})
