// Reads that show many records at once: overview, short lists, residency, the past, and the control plane.

import { makeNode } from '@holdfast/testkit/nodes/enroll'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let platform: Platform
let acme: ApiClient
let globex: ApiClient
let nodeId: string
beforeAll(async () => {
  platform = await ownPlatform()
  acme = platform.api(platform.acme.token)
  globex = platform.api(platform.globex.token)
  nodeId = await makeNode(platform.baseUrl, acme, 'acme-1')
  for (const [name, replicas] of [
    ['web', 0],
    ['report', 1],
    ['orders', 0],
  ] as const) {
    const body = { kind: 'Deployment', name, image: platform.image, replicas }
    expect((await acme.post('/api/v1/deployments', body)).status).toBe(201)
  }
})
afterAll(() => platform.stop())

type Item = { readonly [member: string]: unknown }
const itemsOf = async (api: ApiClient, path: string): Promise<Item[]> => {
  const { status, body, text } = await api.get(`/api/v1${path}`)
  if (status !== 200) throw new Error(text)
  return Object(body['items'])
}
const namesOf = async (path: string, api = acme) => (await itemsOf(api, path)).map(({ name }) => name)

describe('the overview', () => {
  test('counts what the tenant has and lists what needs a person', async () => {
    const { body } = await acme.get('/api/v1/overview')
    expect(body).toMatchObject({
      tenant: { id: platform.acme.id, name: 'acme' },
      deployments: { total: 3, counts: { Stopped: 2 } },
      nodes: { total: 1, cordoned: 0 },
      attentionOmitted: 0,
    })
    expect(body['quotas']).toContainEqual(expect.objectContaining({ kind: 'deployments', used: 3 }))
    expect(body['attention']).toContainEqual(
      expect.objectContaining({ subject: expect.objectContaining({ kind: 'Deployment', name: 'report' }) }),
    )
  })

  test('shows nothing of another tenant', async () => {
    const { body, text } = await globex.get('/api/v1/overview')
    expect(body).toMatchObject({ deployments: { total: 0 }, nodes: { total: 0 }, attention: [] })
    expect(text).not.toMatch(/report|acme/)
  })
})

describe('short lists', () => {
  test('are filtered and sorted by the server, page by page', async () => {
    expect(await namesOf('/deployments?view=summary')).toEqual(['orders', 'report', 'web'])
    expect(await namesOf('/deployments?view=summary&q=OR')).toEqual(['orders', 'report'])
    expect(await namesOf('/deployments?view=summary&phase=Stopped')).toEqual(['orders', 'web'])
    expect((await namesOf('/deployments?view=summary&sort=worst'))[0]).toBe('report')
    expect(await namesOf('/deployments?sort=newest&limit=1')).toEqual(['orders'])
    const first = await acme.get('/api/v1/deployments?view=summary&sort=worst&limit=2')
    const next = `/deployments?view=summary&sort=worst&limit=2&cursor=${String(first.body['nextCursor'])}`
    expect([...Object(first.body['items']).map(({ name }: Item) => name), ...(await namesOf(next))]).toEqual([
      'report',
      'orders',
      'web',
    ])
    const [item] = await itemsOf(acme, '/deployments?view=summary&q=web')
    expect(item).toMatchObject({ name: 'web', phase: 'Stopped', nodes: [], replicas: { desired: 0 } })
    expect(item).not.toHaveProperty('secrets')
    expect((await acme.get('/api/v1/deployments?view=long')).codes).toEqual(['query_parameter_invalid'])
  })

  test('of nodes show requests and times, as the nodes themselves do', async () => {
    const [summary] = await itemsOf(acme, '/nodes?view=summary')
    expect(summary).toMatchObject({
      id: nodeId,
      name: 'acme-1',
      requested: { cpuMillis: 0, memoryBytes: 0 },
      replicas: 0,
      lastHeardAt: null,
    })
    const { body } = await acme.get(`/api/v1/nodes/${nodeId}`)
    expect(body).toMatchObject({ requested: { cpuMillis: 0, memoryBytes: 0 }, since: summary?.['since'] })
    expect(await namesOf('/nodes?phase=failed')).toEqual([])
    expect(await itemsOf(acme, `/nodes/${nodeId}/replicas`)).toEqual([])
    expect((await globex.get(`/api/v1/nodes/${nodeId}/replicas`)).codes).toEqual(['node_not_found'])
  })
})

describe('the past', () => {
  const minutesAway = (minutes: number) =>
    encodeURIComponent(new Date(Date.now() + minutes * 60_000).toISOString())

  test('of events and audit entries is limited by times', async () => {
    expect((await itemsOf(acme, '/events?since=10m')).length).toBeGreaterThan(2)
    for (const path of ['/events', '/audit']) {
      expect(await itemsOf(acme, `${path}?since=${minutesAway(5)}`)).toEqual([])
      expect(await itemsOf(acme, `${path}?until=${minutesAway(-5)}`)).toEqual([])
      const all = await itemsOf(acme, `${path}?limit=500`)
      const between = `${path}?limit=500&since=${minutesAway(-5)}&until=${minutesAway(5)}`
      expect(await itemsOf(acme, between)).toEqual(all)
      expect((await acme.get(`/api/v1${path}?since=yesterday`)).codes).toEqual(['query_parameter_invalid'])
    }
  })

  test('of audit entries begins with the newest, and is found by subject', async () => {
    const newest = await itemsOf(acme, '/audit?limit=500')
    const oldest = await itemsOf(acme, '/audit?limit=500&sort=oldest')
    expect(newest).toEqual(oldest.toReversed())
    expect(Object(newest[0]?.['subject']).name).toBe('orders')
    expect(Object(newest[0]?.['actor'])).toMatchObject({ role: 'tenant-admin', name: expect.any(String) })
    const ofWeb = await itemsOf(acme, '/audit?subject=web')
    expect(ofWeb.map(({ subject }) => Object(subject).name)).toEqual(['web'])
    const seen: unknown[] = []
    let cursor = ''
    do {
      const { body } = await acme.get(`/api/v1/audit?limit=2${cursor}`)
      seen.push(...Object(body['items']))
      cursor = body['nextCursor'] === null ? '' : `&cursor=${String(body['nextCursor'])}`
    } while (cursor !== '')
    expect(seen).toEqual(newest)
  })

  test('of a deployment connects the event with the audit entry of its request', async () => {
    const [created] = await itemsOf(acme, '/events?type=deployment.created&subject=web')
    const [entry] = await itemsOf(acme, '/audit?subject=web')
    expect(created?.['audit']).toBe(entry?.['id'])
    expect(await itemsOf(acme, '/deployments/web/decisions')).toEqual([])
    expect((await globex.get('/api/v1/deployments/web/decisions')).codes).toEqual(['deployment_not_found'])
  })
})

test('residency lists each deployment with its demand', async () => {
  const body = {
    kind: 'Deployment',
    name: 'resident',
    image: platform.image,
    replicas: 0,
    placement: { residency: { country: 'DE' } },
  }
  expect((await acme.post('/api/v1/deployments', body)).status).toBe(201)
  const items = await itemsOf(acme, '/residency')
  expect(items.map(({ deployment }) => deployment)).toEqual(['orders', 'report', 'resident', 'web'])
  expect(items[2]).toMatchObject({ demand: { country: 'DE' }, holds: true, replicas: [], copies: [] })
  expect(await itemsOf(globex, '/residency')).toEqual([])
})

describe('the platform', () => {
  test('shows its servers and stores to administrators only', async () => {
    const { body } = await platform.api().get('/api/v1/platform')
    expect(body).toMatchObject({
      shards: { total: 64 },
      store: { state: 'connected' },
      secretsStore: { state: 'connected' },
      massFailureHold: { active: false, since: null, nodes: 0 },
    })
    expect(body['servers']).toContainEqual(expect.objectContaining({ id: body['answeredBy'], alive: true }))
    expect((await acme.get('/api/v1/platform')).codes).toEqual(['permission_denied'])
  })

  test('lists tenants with the worst first', async () => {
    const items = await itemsOf(platform.api(), '/tenants?view=summary&sort=worst')
    expect(items[0]).toMatchObject({ name: 'acme', deployments: { total: expect.any(Number) } })
    expect(await namesOf('/tenants?view=summary&q=glob', platform.api())).toEqual(['globex'])
    expect((await acme.get('/api/v1/tenants?view=summary')).codes).toEqual(['permission_denied'])
  })
})
