// Replicas of a deployment in API responses: their nodes, their states, and why a replica has or had no node.

import type { Candidate, DeploymentUid, TenantId, Why } from '@holdfast/contract'
import { nodes } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import {
  addNodes,
  aNode,
  type Controllers,
  observe,
  runningOf,
  startControllers,
  write,
} from '@holdfast/testkit/controllers/placing-world'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'
const TIME = '2026-01-01T00:00:00.000Z'
let platform: Platform
let api: ApiClient
let controllers: Controllers
let tenant: TenantId

beforeAll(async () => {
  platform = await ownPlatform()
  api = platform.api(platform.acme.token)
  tenant = platform.acme.id as TenantId
  controllers = startControllers(platform.server.store)
})
afterAll(async () => {
  await controllers.stop()
  await platform.stop()
})

const create = async (name: string, parts: object = {}): Promise<DeploymentUid> => {
  const created = await api.post(COLLECTION, { kind: 'Deployment', name, image: platform.image, ...parts })
  expect(created.status).toBe(201)
  return (created.body.deployment as { uid: DeploymentUid }).uid
}
const phaseOf = async (name: string) => (await api.get(`${COLLECTION}/${name}/status`)).body.phase
const why = async (name: string, at?: string): Promise<Why> =>
  (await api.get(`${COLLECTION}/${name}/why${at === undefined ? '' : `?at=${at}`}`)).body as unknown as Why
const namesOf = (candidates: readonly Candidate[]) =>
  candidates.map(({ nodeName, refusals }) => [nodeName, refusals.map(({ filter }) => filter)])

describe('a deployment from unplaced to running', () => {
  const [one, two] = [aNode('reads-1', { schedulable: false }), aNode('reads-2', { status: 'pending' })]
  let uid: DeploymentUid
  let uncured: string

  test('unplaced: the status has a summary, /why has every node, and a dry run returns the same', async () => {
    await addNodes(platform.server.store, tenant, one, two)
    uid = await create('web', { replicas: 2 })
    await expect.poll(async () => (await why('web')).summary).toContain('0 of 2 nodes')
    const now = await why('web')
    expect(now.phase).toBe('Pending')
    expect(namesOf(now.candidates)).toEqual([
      ['reads-1', ['cordon']],
      ['reads-2', ['readiness']],
    ])
    expect(now.cure).toHaveLength(2)
    expect(now.nextCursor).toBe(null)
    await expect
      .poll(async () => (await api.get(`${COLLECTION}/web`)).body.status)
      .toMatchObject({
        phase: 'Pending',
        reason: 'unschedulable',
        message: now.summary,
        replicas: { desired: 2, placed: 0, ready: 0 },
      })
    expect((await api.get(`${COLLECTION}/web/placements`)).body).toEqual({ items: [] })
    const body = { kind: 'Deployment', name: 'other', image: platform.image }
    const dry = await api.post(`${COLLECTION}?dryRun=true`, body)
    expect(dry.body.plan).toMatchObject({
      placement: {
        placed: [],
        unplaced: 1,
        summary: now.summary,
        candidates: now.candidates,
        cure: now.cure,
      },
    })
    uncured = new Date().toISOString()
  })

  test('unplaced: /why has pages, and groups of nodes', async () => {
    const read = async (query: string) =>
      (await api.get(`${COLLECTION}/web/why?${query}`)).body as unknown as Why
    const first = await read('limit=1')
    expect(namesOf(first.candidates)).toEqual([['reads-1', ['cordon']]])
    const second = await read(`limit=1&cursor=${first.nextCursor}`)
    expect([namesOf(second.candidates), second.nextCursor]).toEqual([[['reads-2', ['readiness']]], null])
    for (const query of ['view=groups', `view=groups&at=${uncured}`])
      expect(await read(query)).toMatchObject({
        candidates: [],
        nextCursor: null,
        groups: [
          { count: 1, nodes: ['reads-1'], reasons: [{ code: 'node_cordoned', fix: 'Uncordon reads-1.' }] },
          { count: 1, nodes: ['reads-2'], cure: { text: 'Start the agent on reads-2.' } },
        ],
      })
    const one = await read('view=groups&limit=1')
    expect(one.groups?.map(({ nodes }) => nodes)).toEqual([['reads-1']])
    expect((await read(`view=groups&limit=1&cursor=${one.nextCursor}`)).groups).toMatchObject([
      { nodes: ['reads-2'] },
    ])
    for (const query of ['view=rows', 'cursor=%00', 'limit=0'])
      expect((await api.get(`${COLLECTION}/web/why?${query}`)).body).toMatchObject({
        code: 'query_parameter_invalid',
      })
  })

  test('placed: each replica has a node, and a dry run shows the next one', async () => {
    await write(platform.server.store, (transaction) =>
      transaction.put(inTenant(tenant, nodes, one.id), { ...one, schedulable: true }),
    )
    await expect.poll(() => phaseOf('web')).toBe('Progressing')
    const { body } = await api.get(`${COLLECTION}/${uid}/placements`)
    const entry = {
      nodeId: one.id,
      nodeName: 'reads-1',
      state: 'assigned',
      containerId: null,
      startedAt: null,
    }
    expect(body).toEqual({
      items: [
        { replica: 1, revision: 1, ...entry },
        { replica: 2, revision: 1, ...entry },
      ],
    })
    const dry = await api.put(`${COLLECTION}/web?dryRun=true`, { replicas: 3 })
    expect(dry.body.plan).toMatchObject({ action: 'update', placement: { placed: ['reads-1'], unplaced: 0 } })
  })

  test('running: ready replicas are those that agents reported, and the timeline is newest first', async () => {
    const { store } = platform.server
    await observe(store, tenant, uid, runningOf(store, tenant, uid), { state: 'ready', containerId: 'c1' })
    await expect.poll(() => phaseOf('web')).toBe('Running')
    await expect
      .poll(async () => {
        const { body } = await api.get(`${COLLECTION}/web/status`)
        return (body.timeline as { type: string }[]).map(({ type }) => type)
      })
      .toEqual([
        'deployment.running',
        'deployment.scheduled',
        'deployment.unschedulable',
        'deployment.created',
      ])
    const { body } = await api.get(`${COLLECTION}/web/status`)
    expect(body).toMatchObject({ replicas: { desired: 2, placed: 2, ready: 2 }, runningRevision: 1 })
    expect(await why('web')).toMatchObject({ cure: [], candidates: [] })
    const { groups = [] } = (await api.get(`${COLLECTION}/web/why?view=groups`)).body as unknown as Why
    expect(groups.map(({ nodes, reasons }) => [nodes, reasons.length])).toEqual([
      [['reads-1'], 0],
      [['reads-2'], 1],
    ])
  })

  test('/placements shows restarts, the last exit, the cause and failed checks as reported', async () => {
    const { store } = platform.server
    const failure = {
      reason: 'unhealthy',
      restarts: 3,
      lastExit: { code: 137, signal: 'SIGKILL', oomKilled: true, oomLimitBytes: 6_291_456, at: TIME },
      cause: 'wget: not found',
      failedChecks: 2,
    }
    const shown = async () => (await api.get(`${COLLECTION}/web/placements`)).body.items
    const replicas = runningOf(store, tenant, uid)
    await observe(store, tenant, uid, replicas, { state: 'ready', containerId: 'c1', ...failure })
    await expect.poll(shown).toMatchObject([failure, failure])
    await observe(store, tenant, uid, replicas, { state: 'ready', containerId: 'c1' })
    await expect.poll(shown).not.toMatchObject([failure, failure])
    const entries = (await shown()) as object[]
    for (const name of ['reason', 'lastExit', 'cause', 'failedChecks'])
      for (const entry of entries) expect(entry).not.toHaveProperty(name)
  })

  test('/placements shows no start of a container that ended and waits for its restart', async () => {
    const { store } = platform.server
    const shown = async () => (await api.get(`${COLLECTION}/web/placements`)).body.items
    const replicas = runningOf(store, tenant, uid)
    const run = { state: 'running', containerId: 'c1', startedAt: TIME, restarts: 1 } as const
    await observe(store, tenant, uid, replicas, { ...run, reason: 'exited' })
    await expect.poll(shown).toMatchObject([{ state: 'running', reason: 'exited', startedAt: null }, {}])
    await observe(store, tenant, uid, replicas, run)
    await expect.poll(shown).toMatchObject([{ startedAt: TIME }, { startedAt: TIME }])
    await observe(store, tenant, uid, replicas, { state: 'ready', containerId: 'c1' })
    await expect.poll(() => phaseOf('web')).toBe('Running')
  })

  test('/why at an earlier time returns the decision of that time', async () => {
    const then = await why('web', uncured)
    expect(then.phase).toBe('Pending')
    expect(namesOf(then.candidates)).toEqual([
      ['reads-1', ['cordon']],
      ['reads-2', ['readiness']],
    ])
    expect(then.decidedAt).not.toBeNull()
    expect(await why('web', '2020-01-01T00:00:00Z')).toMatchObject({ decidedAt: null, candidates: [] })
    const later = await why('web', new Date(Date.now() + 60_000).toISOString())
    expect(later).toMatchObject({ phase: 'Running', candidates: [] })
  })
})

test.each(['status', 'placements', 'why'])(
  '%s of a missing or foreign deployment is not found',
  async (what) => {
    const missing = await api.get(`${COLLECTION}/missing/${what}`)
    expect(missing.status).toBe(404)
    expect(missing.body.code).toBe('deployment_not_found')
    const foreign = await platform.api(platform.globex.token).get(`${COLLECTION}/web/${what}`)
    expect(foreign.status).toBe(404)
  },
)

test('/why rejects an invalid time', async () => {
  const { status, body } = await api.get(`${COLLECTION}/web/why?at=yesterday`)
  expect([status, body.code]).toEqual([400, 'query_parameter_invalid'])
})
