// Scaling policies over HTTP on a real etcd: the life cycle, rejections that store nothing, dry runs, the spec beside the
// policy, backups, and mounts that allow one replica only.

import { storeReadyVolume } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const DEPLOYMENTS = '/api/v1/deployments'
const POLICY = { min: 2, max: 5, metric: 'cpu', targetPercent: 60 }
const [VOLUME, OTHER] = ['vol_01JD0000000000000000000000', 'vol_01JD0000000000000000000001'] as const

let platform: Platform
let api: ApiClient

beforeAll(async () => {
  platform = await sharedPlatform()
  api = platform.api(platform.acme.token)
  for (const volume of [VOLUME, OTHER]) await storeReadyVolume(platform, platform.acme.id, volume)
})
afterAll(() => platform.stop())

const policyOf = (name: string): string => `${DEPLOYMENTS}/${name}/scaling`
const scalingIn = ({ body }: ApiAnswer): { [member: string]: unknown } => Object(body['scaling'] ?? body)
const statusIn = (answer: ApiAnswer): { [member: string]: unknown } => Object(scalingIn(answer)['status'])

async function make(name: string, parts: object = {}): Promise<void> {
  const resources = { cpuMillis: 100 }
  const answer = await api.post(DEPLOYMENTS, {
    ...{ kind: 'Deployment', name, image: platform.image, replicas: 1, resources },
    ...parts,
  })
  expect(answer.status, answer.text).toBe(201)
}

async function setPolicy(name: string, policy: object = POLICY): Promise<ApiAnswer> {
  const answer = await api.put(policyOf(name), policy)
  expect(answer.status, answer.text).toBe(200)
  return answer
}

async function desiredOf(name: string): Promise<unknown> {
  const { body } = await api.get(`${DEPLOYMENTS}/${name}`)
  return Object(Object(body['status'])['replicas'])['desired']
}

async function eventsOf(name: string): Promise<string[]> {
  const { body } = await api.get(`/api/v1/events?subject=${name}&type=deployment.scaled&limit=500`)
  const items: { reason: string; data: { from: number; to: number } }[] = Object(body['items'])
  return items.map(({ reason, data: { from, to } }) => `${reason} ${from} ${to}`).sort()
}

test('a policy is set, read, changed and deleted, and the spec keeps its number', async () => {
  await make('web')
  const set = await setPolicy('web')
  expect(set.headers.get('etag')).toBe('"1"')
  expect(set.body['alterations']).toMatchObject([
    { code: 'default_applied', field: 'scaleDownDelay', to: '300s' },
  ])
  expect(scalingIn(set)).toMatchObject({
    ...POLICY,
    deploymentName: 'web',
    scaleDownDelay: '300s',
    revision: 1,
  })
  const read = await api.get(policyOf('web'))
  expect([read.status, read.headers.get('etag')]).toEqual([200, '"1"'])
  // The deployment has no node, so nothing is measured, and the answer reports it.
  expect(statusIn(read)).toMatchObject({
    ...{ desired: 2, wanted: null, measuredPercent: null, ready: 0, measured: 0, unreachable: [] },
    reason: 'not_ready',
    message: expect.stringContaining('no replica is ready'),
    scaledAt: null,
  })
  const { body } = await api.get(`${DEPLOYMENTS}/web`)
  expect(body).toMatchObject({ replicas: 1, revision: 1, status: { replicas: { desired: 2 } } })
  expect((await api.get(`${DEPLOYMENTS}/web/why`)).body).toMatchObject({ scaling: statusIn(read) })

  const changed = await setPolicy('web', { min: 3 })
  expect(scalingIn(changed)).toMatchObject({ ...POLICY, min: 3, scaleDownDelay: '300s', revision: 2 })
  expect(changed.body['alterations']).toEqual([])
  expect(scalingIn(await setPolicy('web', { min: 3 }))).toMatchObject({ revision: 2 })
  expect(await desiredOf('web')).toBe(3)

  const removed = await api.delete(policyOf('web'))
  expect([removed.status, scalingIn(removed)['revision'], statusIn(removed)['desired']]).toEqual([202, 2, 1])
  expect((await api.get(policyOf('web'))).codes).toEqual(['scaling_policy_not_found'])
  expect((await api.get(`${DEPLOYMENTS}/web/why`)).body['scaling']).toBeUndefined()
  expect(await desiredOf('web')).toBe(1)
  expect(await eventsOf('web')).toEqual(['policy_deleted 3 1', 'policy_set 1 2', 'policy_set 2 3'])
  const audited: { action: string; subject: { name: string } }[] = Object(
    (await api.get('/api/v1/audit')).body['items'],
  )
  const actions = audited.filter(({ subject }) => subject.name === 'web').map(({ action }) => action)
  expect(actions.filter((action) => action.startsWith('scaling:')).sort()).toEqual([
    'scaling:delete',
    'scaling:set',
    'scaling:set',
  ])
})

describe('a rejected policy', () => {
  beforeAll(async () => {
    await make('strict')
    await make('scaled')
    await setPolicy('scaled')
  })

  const put = (name: string, body: unknown, headers: { [name: string]: string } = {}) =>
    api.send('PUT', policyOf(name), body, headers)

  test.each<readonly [string, () => Promise<ApiAnswer>, number, string, string]>([
    ['a minimum of 0', () => put('strict', { ...POLICY, min: 0 }), 422, 'scaling_policy_invalid', 'min'],
    ['a minimum above the maximum', () => put('scaled', { min: 6 }), 422, 'scaling_policy_invalid', 'min'],
    ['a maximum above the limit', () => put('scaled', { max: 101 }), 422, 'scaling_policy_invalid', 'max'],
    ['no metric', () => put('strict', { ...POLICY, metric: null }), 422, 'scaling_policy_invalid', 'metric'],
    [
      'a metric without a request',
      () => put('strict', { ...POLICY, metric: 'memory' }),
      422,
      'scaling_policy_invalid',
      'metric',
    ],
    [
      'a target of 96 percent',
      () => put('strict', { ...POLICY, targetPercent: 96 }),
      422,
      'scaling_policy_invalid',
      'targetPercent',
    ],
    [
      'a delay above an hour',
      () => put('strict', { ...POLICY, scaleDownDelay: '61m' }),
      422,
      'scaling_policy_invalid',
      'scaleDownDelay',
    ],
    ['an unknown field', () => put('strict', { ...POLICY, target: 1 }), 422, 'field_unknown', 'target'],
    ['a text as number', () => put('strict', { ...POLICY, max: '5' }), 422, 'field_type_invalid', 'max'],
    [
      'another revision',
      () => put('scaled', { max: 9 }, { 'if-match': '"7"' }),
      412,
      'revision_conflict',
      'If-Match',
    ],
    [
      'a revision of no policy',
      () => put('strict', POLICY, { 'if-match': '"1"' }),
      412,
      'revision_conflict',
      'If-Match',
    ],
    ['an unknown deployment', () => put('absent', POLICY), 404, 'deployment_not_found', 'name'],
    [
      'the deployment of another tenant',
      () => platform.api(platform.globex.token).put(policyOf('scaled'), POLICY),
      404,
      'deployment_not_found',
      'name',
    ],
    ['no policy to delete', () => api.delete(policyOf('strict')), 404, 'scaling_policy_not_found', 'name'],
    [
      'a policy of another revision to delete',
      () => api.delete(policyOf('scaled'), { 'if-match': '"7"' }),
      412,
      'revision_conflict',
      'If-Match',
    ],
  ])('with %s stores nothing', async (_about, send, status, code, field) => {
    const before = await dumpTenants(platform)
    const answer = await send()
    expect([answer.status, answer.codes, answer.body['field']], answer.text).toEqual([status, [code], field])
    expect(await dumpTenants(platform)).toEqual(before)
  })
})

test('a dry run shows what would follow and stores nothing', async () => {
  await make('dry')
  const before = await dumpTenants(platform)
  const planned = await api.put(`${policyOf('dry')}?dryRun=true`, POLICY)
  expect(planned.status, planned.text).toBe(200)
  expect(planned.body).toMatchObject({
    alterations: [{ code: 'default_applied', field: 'scaleDownDelay' }],
    plan: {
      result: { scaling: { revision: 1, status: { desired: 2 } } },
      // The tenant has no node, so both desired replicas would have none.
      effects: { unplaced: [{ deployment: 'dry', replicas: 2 }] },
    },
  })
  expect(await dumpTenants(platform)).toEqual(before)
})

test('an update keeps the number of the policy and warns, and 0 replicas stop the deployment', async () => {
  await make('kept')
  await setPolicy('kept')
  const update = (replicas: number) => api.put(`${DEPLOYMENTS}/kept`, { replicas })
  const four = await update(4)
  expect(four.body['warnings']).toMatchObject([{ code: 'scaling_policy_active', field: 'replicas' }])
  expect(await desiredOf('kept')).toBe(2)
  const stopped = await update(0)
  expect(stopped.body['warnings']).toEqual([])
  expect(await desiredOf('kept')).toBe(0)
  expect(statusIn(await api.get(policyOf('kept')))).toMatchObject({ desired: 0, reason: 'stopped' })
  // A deployment that starts again begins with the number of its spec, within the bounds of the policy.
  await update(4)
  expect(await desiredOf('kept')).toBe(4)
  await api.put(`${DEPLOYMENTS}/kept`, { resources: null })
  expect(statusIn(await api.get(policyOf('kept')))).toMatchObject({ desired: 4, reason: 'no_request' })
})

test('a backup contains the policy, and a restore sets it after a change and a deletion', async () => {
  await make('saved')
  await setPolicy('saved', { ...POLICY, scaleDownDelay: '60s' })
  const created = await api.post('/api/v1/backups', { deploymentName: 'saved' })
  const backup = `/api/v1/backups/${created.body['id']}`
  const policy = { ...POLICY, scaleDownDelay: '60s' }
  expect((await api.get(backup)).body['scalingPolicy']).toEqual(policy)
  await setPolicy('saved', { min: 4, max: 9 })
  expect((await api.post(`${backup}/restore`, undefined)).status).toBe(200)
  expect(scalingIn(await api.get(policyOf('saved')))).toMatchObject({ ...policy, revision: 3 })
  await api.delete(`${DEPLOYMENTS}/saved`)
  await expect.poll(async () => (await api.get(`${DEPLOYMENTS}/saved`)).status).toBe(404)
  const restored = await api.post(`${backup}/restore`, undefined)
  expect(restored.status, restored.text).toBe(200)
  expect(scalingIn(await api.get(policyOf('saved')))).toMatchObject({ ...policy, revision: 1 })
  expect(await desiredOf('saved')).toBe(2)
})

test('a deployment with a read-write mount has at most one replica, whichever comes first', async () => {
  const mount = { target: '/data', type: 'volume', readOnly: false }
  await make('writer', { volumes: [{ volume: VOLUME, ...mount }] })
  const rejected = await api.put(policyOf('writer'), POLICY)
  expect([rejected.status, rejected.codes, rejected.body['field']]).toEqual([
    422,
    ['scaling_policy_invalid'],
    'max',
  ])
  await setPolicy('writer', { ...POLICY, min: 1, max: 1 })
  await make('reader')
  await setPolicy('reader', { ...POLICY, min: 1 })
  const conflict = await api.put(`${DEPLOYMENTS}/reader`, { volumes: [{ volume: OTHER, ...mount }] })
  expect(conflict.codes).toEqual(['volume_access_mode_conflict'])
  expect(conflict.text).toContain('the scaling policy allows 5 replicas')
})
