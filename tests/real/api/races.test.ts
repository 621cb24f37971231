// Concurrent requests on one and on two servers: a name has one owner, a revision one successor, and quotas are exact. The
// wire decides it: a thousand requests at once, of which a starved machine would let some time out.

import type { TenantId } from '@holdfast/contract'
import { deployments } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { startChaosProxy } from '@holdfast/testkit'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import {
  type Platform,
  type Replica,
  startPlatform,
  startReplica,
} from '@holdfast/testkit/platform/start-platform'
import { inTurn } from '@holdfast/testkit/rotation'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'
const PATIENCE = { timeout: 180_000 }

let platform: Platform
let other: Replica
beforeAll(async () => {
  platform = await startPlatform()
  other = await startReplica(platform)
})
afterAll(async () => {
  await other.stop()
  await platform.stop()
})

const together = <T>(count: number, ask: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(index)))

/** The number of responses of each kind, for example `{"201": 1, "deployment_exists": 999}`. */
function tally(answers: readonly ApiAnswer[]): { [answer: string]: number } {
  const counts: { [answer: string]: number } = {}
  for (const { status, codes } of answers) {
    const name = codes.length === 0 ? String(status) : codes.join('+')
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

let tenantsMade = 0
async function newTenant(quotas: { [kind: string]: number } = {}) {
  tenantsMade += 1
  const { body } = await platform.api().post('/api/v1/tenants', { name: `racing-${tenantsMade}` })
  const id = String(body['id'])
  await platform.api().send('PATCH', `/api/v1/tenants/${id}`, { quotas })
  const token = await makeToken(platform.api(), id, 'tenant-admin')
  return { id, token, one: platform.api(token), two: other.api(token) }
}

const bodyOf = (name: string) => ({ kind: 'Deployment', name, image: platform.image })

async function usedDeployments(api: ApiClient): Promise<number> {
  const { body } = await api.get('/api/v1/quotas')
  const items: { kind: string; used: number }[] = Object(body['items'])
  return items.find(({ kind }) => kind === 'deployments')?.used ?? -1
}

/** One server in one CI run, two in the next. */
const SERVERS = inTurn('racing-servers', [
  ['one server', 1],
  ['two servers', 2],
] as const)

describe.each(SERVERS)('concurrent requests on %s', (_about, servers) => {
  const pick = ({ one, two }: { one: ApiClient; two: ApiClient }, index: number) =>
    index % servers === 0 ? one : two

  test('1,000 POSTs of one name create it once and return 999 deployment_exists', PATIENCE, async () => {
    const tenant = await newTenant()
    const answers = await together(1000, (index) => pick(tenant, index).post(COLLECTION, bodyOf('web')))
    expect(tally(answers)).toEqual({ 201: 1, deployment_exists: 999 })
    expect(await usedDeployments(tenant.one)).toBe(1)
    const keys = Object.keys(await dumpTenants(platform)).filter((key) => key.includes(tenant.id))
    expect(keys.filter((key) => key.includes('/dep/'))).toHaveLength(1)
    expect(keys.filter((key) => key.includes('/slot/'))).toHaveLength(1)
    expect(keys.filter((key) => key.includes('/arc/'))).toHaveLength(1)
  })

  test('1,000 PUTs with If-Match in rounds have one success per revision', PATIENCE, async () => {
    const tenant = await newTenant()
    await tenant.one.post(COLLECTION, bodyOf('web'))
    for (let revision = 1; revision <= 4; revision += 1) {
      const answers = await together(250, (index) =>
        pick(tenant, index).put(
          `${COLLECTION}/web`,
          { environment: { WRITER: String(index), ROUND: String(revision) } },
          { 'if-match': `"${revision}"` },
        ),
      )
      expect(tally(answers)).toEqual({ 200: 1, revision_conflict: 249 })
      const winner = answers.findIndex(({ status }) => status === 200)
      const { body, headers } = await tenant.two.get(`${COLLECTION}/web`)
      expect(headers.get('etag')).toBe(`"${revision + 1}"`)
      expect(body['environment']).toEqual({ WRITER: String(winner), ROUND: String(revision) })
    }
  })

  test('1,000 PUTs with one If-Match have exactly one success', PATIENCE, async () => {
    const tenant = await newTenant()
    await tenant.one.post(COLLECTION, bodyOf('web'))
    const answers = await together(1000, (index) =>
      pick(tenant, index).put(`${COLLECTION}/web`, { environment: { N: `${index}` } }, { 'if-match': '"1"' }),
    )
    expect(tally(answers)).toEqual({ 200: 1, revision_conflict: 999 })
  })

  test('400 POSTs under a quota of 200 have exactly 200 successes', PATIENCE, async () => {
    const tenant = await newTenant({ deployments: 200 })
    const answers = await together(400, (index) => pick(tenant, index).post(COLLECTION, bodyOf(`d${index}`)))
    expect(tally(answers)).toEqual({ 201: 200, quota_exceeded: 200 })
    expect(await usedDeployments(tenant.one)).toBe(200)
    expect(await usedDeployments(tenant.two)).toBe(200)
    const keys = Object.keys(await dumpTenants(platform)).filter((key) => key.includes(tenant.id))
    expect(keys.filter((key) => key.includes('/dep/'))).toHaveLength(200)
    expect(keys.filter((key) => key.includes('/slot/'))).toHaveLength(200)
  })

  test('100 PUTs without If-Match all succeed, one after another', PATIENCE, async () => {
    const tenant = await newTenant()
    await tenant.one.post(COLLECTION, bodyOf('web'))
    const answers = await together(100, (index) =>
      pick(tenant, index).put(`${COLLECTION}/web`, { environment: { N: String(index) } }),
    )
    expect(tally(answers)).toEqual({ 200: 100 })
    const revisions = answers.map(({ headers }) => Number(headers.get('etag')?.slice(1, -1)))
    expect(revisions.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 2))
  })

  test('POST, PUT and DELETE of one name end in one consistent state', PATIENCE, async () => {
    const tenant = await newTenant({ deployments: 1 })
    const answers = await together(300, (index) => {
      const api = pick(tenant, index)
      if (index % 3 === 0) return api.post(COLLECTION, bodyOf('web'))
      if (index % 3 === 1) return api.put(`${COLLECTION}/web`, { environment: { N: String(index) } })
      return api.delete(`${COLLECTION}/web`)
    })
    const known = ['201', '200', '202', 'deployment_exists', 'deployment_not_found', 'quota_exceeded']
    const both = ['deployment_exists+quota_exceeded']
    expect(Object.keys(tally(answers)).filter((name) => ![...known, ...both].includes(name))).toEqual([])
    await expect
      .poll(
        async () => {
          const { status, body } = await tenant.two.get(`${COLLECTION}/web`)
          return status === 404 || Object(body['status']).phase !== 'Deleting'
        },
        { timeout: 30_000 },
      )
      .toBe(true)
    const { status } = await tenant.one.get(`${COLLECTION}/web`)
    expect(await usedDeployments(tenant.one)).toBe(status === 200 ? 1 : 0)
    const created = tally(answers)['201'] ?? 0
    const deleted = tally(answers)['202'] ?? 0
    expect(created - deleted).toBe(status === 200 ? 1 : 0)
  })
})

test('a server with an outdated record still resolves the image', PATIENCE, async () => {
  const etcd = new URL(platform.config.etcd.endpoints[0] ?? '')
  const proxy = await startChaosProxy(etcd.hostname, Number(etcd.port))
  const endpoints = [`http://${proxy.host}:${proxy.port}`]
  const late = await startReplica(platform, { etcd: { ...platform.config.etcd, endpoints } })
  const { one, token } = await newTenant()
  await one.post(COLLECTION, bodyOf('web'))
  expect((await late.api(token).get(`${COLLECTION}/web`)).status).toBe(200)
  proxy.delay(300)
  await one.delete(`${COLLECTION}/web`)
  await expect.poll(async () => (await one.post(COLLECTION, bodyOf('web'))).status).toBe(201)
  const { body } = await one.get(`${COLLECTION}/web`)
  const sent = { ...body, image: `${platform.image}-unheard-of` }
  const answer = await late.api(token).put(`${COLLECTION}/web`, sent)
  expect(answer.codes).toEqual(['image_not_found'])
  proxy.resume()
  await late.stop()
  await proxy.stop()
})

test('a deployment that is being deleted keeps its name and rejects changes', PATIENCE, async () => {
  const tenant = await newTenant()
  await tenant.one.post(COLLECTION, bodyOf('web'))
  const address = inTenant(tenant.id as TenantId, deployments, 'web')
  // The test writes the deletion mark itself, because the controller would complete a deletion too soon to be observed.
  await platform.server.store.transact((transaction) => {
    const stored = transaction.get(address)
    if (stored !== undefined) transaction.put(address, { ...stored, deleting: true })
    return { kind: 'commit', result: undefined }
  })
  expect(Object((await tenant.two.get(`${COLLECTION}/web`)).body['status']).phase).toBe('Deleting')
  expect((await tenant.two.post(COLLECTION, bodyOf('web'))).codes).toEqual(['deployment_exists'])
  expect((await tenant.two.put(`${COLLECTION}/web`, {})).codes).toEqual(['deployment_not_found'])
  expect((await tenant.two.delete(`${COLLECTION}/web`)).codes).toEqual(['deployment_not_found'])
  const waits = { ...bodyOf('late'), dependsOn: { web: 'started' } }
  expect((await tenant.two.post(COLLECTION, waits)).codes).toEqual(['dependency_not_found'])
})

test('DELETE frees name, slot and archive when it is complete', PATIENCE, async () => {
  const tenant = await newTenant({ deployments: 1 })
  await tenant.one.post(COLLECTION, bodyOf('web'))
  const uid = Object((await tenant.one.get(`${COLLECTION}/web`)).body)['uid']
  const gone = await tenant.one.delete(`${COLLECTION}/web`)
  expect(gone.status).toBe(202)
  expect(Object(gone.body['status']).phase).toBe('Deleting')
  await expect.poll(async () => (await tenant.one.get(`${COLLECTION}/web`)).status).toBe(404)
  expect(await usedDeployments(tenant.one)).toBe(0)
  expect((await tenant.one.get(`/api/v1/archives/deployments/web`)).codes).toEqual(['archive_not_found'])
  const again = await tenant.two.post(COLLECTION, bodyOf('web'))
  expect(again.status, again.text).toBe(201)
  expect(Object(again.body['deployment'])['uid']).not.toBe(uid)
  const { text } = await tenant.one.get(`/api/v1/events?subject=${uid}`)
  expect(text).toContain('deployment.deleted')
})
