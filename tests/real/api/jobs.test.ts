// Jobs over HTTP on a real etcd with scripted agents: attempts, timeout and cancellation, the rules about nodes, the quota,
// dry runs, and explanations.

import type { Event, JobRecord } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { makeTenant, type Platform } from '@holdfast/testkit/platform/start-platform'
import { type Attempt, type JobAgent, openJobAgent } from '@holdfast/testkit/session/job-agent'
import { enrollVolumeNode } from '@holdfast/testkit/session/volume-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

const JOBS = '/api/v1/jobs'

let platform: Platform
let admin: ApiClient
const agents: JobAgent[] = []

beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway', 'controllers'] } })
  admin = platform.api()
})
afterAll(async () => {
  for (const agent of agents) agent.close()
  await platform.stop()
})

let serial = 0
async function newTenant(): Promise<{ readonly id: string; readonly api: ApiClient }> {
  serial += 1
  const { id, token } = await makeTenant(admin, `batch-${serial}`)
  return { id, api: platform.api(token) }
}

async function newNode(
  api: ApiClient,
  script: (attempt: number) => Attempt,
  capabilities?: readonly string[],
): Promise<JobAgent> {
  serial += 1
  const node = await enrollVolumeNode(platform.baseUrl, api, `batch-node-${serial}`)
  const agent = await openJobAgent(platform.baseUrl, node, script, capabilities)
  agents.push(agent)
  return agent
}

const job = (parts: object = {}) => ({ kind: 'Job', name: 'migrate', image: platform.image, ...parts })
const recordIn = ({ body }: ApiAnswer): JobRecord => Object(body['job'] ?? body)

async function create(api: ApiClient, parts: object = {}): Promise<JobRecord> {
  const answer = await api.post(JOBS, job(parts))
  expect(answer.status, answer.text).toBe(201)
  return recordIn(answer)
}

const read = async (api: ApiClient, id: string): Promise<JobRecord> =>
  recordIn(await api.get(`${JOBS}/${id}`))

async function until(api: ApiClient, id: string, expected: string): Promise<JobRecord> {
  let last: JobRecord | undefined
  await waitUntil(
    async () => {
      last = await read(api, id)
      return `${last.status.phase} ${last.status.reason}`.trim() === expected
    },
    { what: `job ${id} is ${expected}`, timeoutMs: 30_000 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(last?.status)}`)
  })
  return read(api, id)
}

async function eventsOf(api: ApiClient, id: string): Promise<string[]> {
  const { body } = await api.get('/api/v1/events?limit=100')
  const items: Event[] = Object(body['items'])
  return items
    .filter(({ subject }) => subject.uid === id)
    .map(({ type, reason }) => `${type} ${reason}`)
    .sort()
}

const used = async (api: ApiClient): Promise<number> => {
  const { body } = await api.get('/api/v1/quotas')
  const items: { kind: string; used: number }[] = Object(body['items'])
  return items.find(({ kind }) => kind === 'jobs_running')?.used ?? -1
}

/** Expects that a request is rejected with one code at one field, and that no key of any tenant changes. */
async function expectRejected(send: () => Promise<ApiAnswer>, status: number, code: string, field: string) {
  const before = await dumpTenants(platform)
  const answer = await send()
  expect([answer.status, answer.codes, answer.body['field']], answer.text).toEqual([status, [code], field])
  expect(await dumpTenants(platform)).toEqual(before)
}

test('a job runs to its end, frees its slot, and stays as it is after a DELETE', async () => {
  const { api } = await newTenant()
  const node = await newNode(api, () => ({ exit: 0 }))
  const created = await create(api, { command: ['true'] })
  expect(created).toMatchObject({ timeout: '1h', retries: 0, onNodeLoss: 'wait', stopGracePeriod: '10s' })
  const done = await until(api, created.id, 'succeeded')
  expect(done.status).toMatchObject({ exitCode: 0, attempts: 1, nodeId: node.nodeId })
  expect(await used(api)).toBe(0)
  expect(await eventsOf(api, created.id)).toEqual([
    'job.created created',
    'job.started started',
    'job.succeeded succeeded',
  ])
  const list = await api.get(JOBS)
  expect(Object(list.body['items'])).toMatchObject([{ id: created.id }])
  expect((await api.delete(`${JOBS}/${created.id}`)).status).toBe(202)
  expect(await read(api, created.id)).toEqual(done)
})

test('a failed attempt is retried with backoff, and never two containers run at once', async () => {
  const { api } = await newTenant()
  const node = await newNode(api, (attempt) => ({ exit: attempt < 3 ? 7 : 0 }))
  const { id } = await create(api, { retries: 2 })
  const done = await until(api, id, 'succeeded')
  expect(done.status.attempts).toBe(3)
  expect([node.sent.length, node.most()]).toEqual([3, 1])
  expect((await eventsOf(api, id)).filter((each) => each.startsWith('job.started'))).toHaveLength(3)
})

test('a job fails with the exit code of its last attempt', async () => {
  const { api } = await newTenant()
  await newNode(api, () => ({ exit: 3 }))
  const { id } = await create(api, { retries: 1 })
  const failed = await until(api, id, 'failed exited')
  expect(failed.status).toMatchObject({ exitCode: 3, attempts: 2 })
  expect(failed.status.finishedAt).not.toBeNull()
})

test('a job that takes too long is stopped and fails', async () => {
  const { api } = await newTenant()
  const node = await newNode(api, () => 'run')
  const { id } = await create(api, { timeout: '1s' })
  const failed = await until(api, id, 'failed timed_out')
  expect(failed.status.exitCode).toBe(143)
  expect(node.running.size).toBe(0)
})

test('DELETE cancels a running job and keeps its record', async () => {
  const { api } = await newTenant()
  const node = await newNode(api, () => 'run')
  const { id } = await create(api)
  await until(api, id, 'running')
  expect(await used(api)).toBe(1)
  const answer = await api.delete(`${JOBS}/${id}`)
  expect([answer.status, recordIn(answer).status.reason]).toEqual([202, 'cancelling'])
  const cancelled = await until(api, id, 'cancelled')
  expect(cancelled.status).toMatchObject({ exitCode: 143, attempts: 1 })
  expect([node.running.size, await used(api)]).toEqual([0, 0])
  expect(await eventsOf(api, id)).toContain('job.cancelled cancelled')
})

test('a job waits for a node, explains every node, and starts once one fits', async () => {
  const { api } = await newTenant()
  await newNode(api, () => ({ exit: 0 }), ['command'])
  const planned = await api.post(`${JOBS}?dryRun=true`, job())
  expect(planned.status, planned.text).toBe(200)
  expect(planned.body['plan']).toMatchObject({ effects: { unplaced: [{ deployment: 'migrate' }] } })
  expect(Object((await api.get(JOBS)).body['items'])).toEqual([])
  const { id } = await create(api)
  const waiting = await until(api, id, 'pending unschedulable')
  expect(waiting.status.message).not.toBe('')
  const why = await api.get(`${JOBS}/${id}/why`)
  expect(why.body['candidates']).toMatchObject([{ refusals: [{ filter: 'agent_version' }] }])
  await newNode(api, () => ({ exit: 0 }))
  await until(api, id, 'succeeded')
})

test('the rules about nodes', async () => {
  const { api } = await newTenant()
  const unresolvable = 'job_node_candidates_unresolvable'
  await expectRejected(() => api.post(JOBS, job()), 422, unresolvable, 'nodeId')
  const node = await newNode(api, () => ({ exit: 0 }))
  const unknown = { nodeId: 'node_01JD0000000000000000000000' }
  await expectRejected(() => api.post(JOBS, job(unknown)), 422, 'job_node_not_found', 'nodeId')
  const { id } = await create(api, { nodeId: node.nodeId })
  await until(api, id, 'succeeded')
})

test('the body is judged by the rules of a deployment', async () => {
  const { api } = await newTenant()
  await newNode(api, () => ({ exit: 0 }))
  const wrong = await api.post(JOBS, { ...job(), kind: 'Deployment' })
  expect([wrong.codes, wrong.body['expected']]).toEqual([['manifest_wrong_kind'], 'Job'])
  await expectRejected(() => api.post(JOBS, job({ replicas: 2 })), 422, 'field_unknown', 'replicas')
  await expectRejected(() => api.post(JOBS, job({ timeout: '200h' })), 422, 'field_type_invalid', 'timeout')
  await expectRejected(() => api.post(JOBS, job({ retries: 11 })), 422, 'field_type_invalid', 'retries')
  await expectRejected(() => api.post(JOBS, job({ id: 'x' })), 422, 'field_read_only', 'id')
  await expectRejected(
    () => api.post(JOBS, job({ name: 'etcd' })),
    422,
    'reserved_infrastructure_name',
    'name',
  )
  const plain = job({ environment: { DB_PASSWORD: 'hunter2hunter2' } })
  const code = 'plaintext_credential_in_environment'
  await expectRejected(() => api.post(JOBS, plain), 422, code, 'environment.DB_PASSWORD')
})

test('a job holds its slot of the quota until it ends', async () => {
  const { id: tenant, api } = await newTenant()
  const node = await newNode(api, () => 'run')
  await admin.send('PATCH', `/api/v1/tenants/${tenant}`, { quotas: { jobs_running: 1 } })
  const { id } = await create(api)
  await until(api, id, 'running')
  await expectRejected(() => api.post(JOBS, job()), 409, 'quota_exceeded', 'quotas.jobs_running')
  await api.delete(`${JOBS}/${id}`)
  await until(api, id, 'cancelled')
  const second = await create(api)
  await until(api, second.id, 'running')
  expect(node.most()).toBe(1)
})

test('a job on a node that is removed by force fails', async () => {
  const { api } = await newTenant()
  const node = await newNode(api, () => 'run')
  const { id } = await create(api)
  await until(api, id, 'running')
  expect((await api.delete(`/api/v1/nodes/${node.nodeId}?force=true`)).status).toBe(202)
  await until(api, id, 'failed node_removed')
})

test('a secret that a job uses cannot be deleted before the job ends', async () => {
  const { api } = await newTenant()
  await newNode(api, () => 'run')
  const path = '/api/v1/secrets/deployments/migrate'
  await api.put(path, { values: { password: 'correct-horse-battery' } })
  const { id } = await create(api, { secrets: [{ name: 'DB', vault_path: 'deployments/migrate' }] })
  await until(api, id, 'running')
  expect((await api.delete(path)).codes).toEqual(['secret_in_use'])
  const { body } = await api.get('/api/v1/secrets')
  expect(Object(body['items'])).toMatchObject([{ consumers: [`job/${id}`] }])
  await api.delete(`${JOBS}/${id}`)
  await until(api, id, 'cancelled')
  await waitUntil(async () => (await api.delete(path)).status === 202, { what: 'the secret is deleted' })
})

test('an Idempotency-Key creates one job, and other tenants do not see it', async () => {
  const { api } = await newTenant()
  await newNode(api, () => ({ exit: 0 }))
  const send = () => api.post(JOBS, job(), { 'idempotency-key': 'once' })
  const [first, second] = [await send(), await send()]
  expect([first.status, recordIn(second).id]).toEqual([201, recordIn(first).id])
  const other = await newTenant()
  expect((await other.api.get(`${JOBS}/${recordIn(first).id}`)).codes).toEqual(['job_not_found'])
  expect((await other.api.delete(`${JOBS}/${recordIn(first).id}`)).codes).toEqual(['job_not_found'])
})
