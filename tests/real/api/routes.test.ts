// A route (host and path) belongs to one deployment of a tenant, even with concurrent requests to two servers.

import type { TenantId } from '@holdfast/contract'
import { deployments, type StoredDeployment } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'
const PATIENCE = { timeout: 180_000 }

let platform: Platform
let other: Replica
beforeAll(async () => {
  platform = await ownPlatform()
  other = await startReplica(platform)
})
afterAll(async () => {
  await other.stop()
  await platform.stop()
})

let tenantsMade = 0
async function newTenant() {
  tenantsMade += 1
  const { body } = await platform.api().post('/api/v1/tenants', { name: `routed-${tenantsMade}` })
  const id = String(body['id'])
  const token = await makeToken(platform.api(), id, 'tenant-admin')
  return { id: id as TenantId, one: platform.api(token), two: other.api(token) }
}

const route = (host: string, path = '/', port = 8080) => ({ host, path, port })
const bodyOf = (name: string, routes: unknown) => ({
  kind: 'Deployment',
  name,
  image: platform.image,
  ...(routes === undefined ? {} : { routes }),
})
const post = (api: ApiClient, name: string, routes?: unknown) => api.post(COLLECTION, bodyOf(name, routes))
const put = (api: ApiClient, name: string, routes: unknown) => api.put(`${COLLECTION}/${name}`, { routes })

interface Claim {
  readonly host: string
  readonly path: string
  readonly name: string
  readonly deployment: string
}

/** The route claims stored in etcd, as `host path name`. */
async function claimsOf(tenant: string): Promise<string[]> {
  const dump = Object.entries(await dumpTenants(platform))
  const own = dump.filter(([key]) => key.includes(`/${tenant}/route/`))
  return own
    .map(([, { value }]): Claim => JSON.parse(value))
    .map(({ host, path, name }) => `${host} ${path} ${name}`)
    .sort()
}

async function routesOf(api: ApiClient, name: string): Promise<string[]> {
  const { body } = await api.get(`${COLLECTION}/${name}`)
  const routes: { host: string; path: string }[] = Object(body['routes'] ?? [])
  return routes.map(({ host, path }) => `${host} ${path} ${name}`)
}

const codes = ({ status, codes: given }: ApiAnswer): string =>
  given.length === 0 ? `${status}` : given.join('+')

describe('the routes of a deployment', () => {
  test('are stored, read, listed, archived and part of the specHash', async () => {
    const { one, two } = await newTenant()
    const created = await post(one, 'web', [{ host: 'a.example', port: 80 }])
    expect(created.status, created.text).toBe(201)
    expect(created.body['alterations']).toContainEqual(
      expect.objectContaining({ code: 'default_applied', field: 'routes[0].path', to: '/' }),
    )
    const { body } = await two.get(`${COLLECTION}/web`)
    expect(body['routes']).toEqual([route('a.example', '/', 80)])
    const changed = await put(two, 'web', [route('a.example', '/', 81)])
    expect(Object(changed.body['deployment']).specHash).not.toBe(body['specHash'])
    const archived = await one.get('/api/v1/archives/deployments/web/1')
    expect(Object(archived.body['spec']).routes).toEqual([route('a.example', '/', 80)])
    const list = await one.get(COLLECTION)
    expect(Object(list.body['items'])[0].routes).toEqual([route('a.example', '/', 81)])
  })

  test('are not claimed by a dry run, which rejects taken ones and lists the change', async () => {
    const { id, one } = await newTenant()
    const dry = await one.post(`${COLLECTION}?dryRun=true`, bodyOf('web', [route('a.example')]))
    expect(dry.status).toBe(200)
    expect(await claimsOf(id)).toEqual([])
    await post(one, 'web', [route('a.example')])
    await post(one, 'api')
    const taken = await one.put(`${COLLECTION}/api?dryRun=true`, { routes: [route('a.example')] })
    expect(taken.codes).toEqual(['route_conflict'])
    const change = await one.put(`${COLLECTION}/web?dryRun=true`, { routes: null })
    expect(Object(change.body['plan']).changes).toMatchObject([{ field: 'routes', to: null }])
    expect(await claimsOf(id)).toEqual(['a.example / web'])
  })
})

describe('a route', () => {
  test("of another deployment is rejected with that deployment's name, and nothing is stored", async () => {
    const { id, one, two } = await newTenant()
    await post(one, 'web', [route('a.example'), route('a.example', '/api')])
    const before = await dumpTenants(platform)
    const routes = [route('b.example'), route('a.example', '/API', 1), route('a.example', '/api/v1')]
    const refused = await post(two, 'shop', routes)
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({ code: 'route_conflict', field: 'routes[1]' })
    expect(refused.body['why']).toContain('web')
    expect(refused.codes).toEqual(['route_conflict'])
    expect(await dumpTenants(platform)).toEqual(before)
    expect((await post(two, 'shop', [routes[0], routes[2]])).status).toBe(201)
    expect((await put(one, 'shop', routes)).codes).toEqual(['route_conflict'])
    expect(await claimsOf(id)).toEqual([
      'a.example / web',
      'a.example /api web',
      'a.example /api/v1 shop',
      'b.example / shop',
    ])
  })

  test('of another tenant is free, because that tenant has other machines', async () => {
    const [acme, globex] = [await newTenant(), await newTenant()]
    expect((await post(acme.one, 'web', [route('a.example')])).status).toBe(201)
    expect((await post(globex.two, 'shop', [route('a.example')])).status).toBe(201)
    expect([await claimsOf(acme.id), await claimsOf(globex.id)]).toEqual([
      ['a.example / web'],
      ['a.example / shop'],
    ])
  })

  test.each([
    ['null', null],
    ['an empty list', []],
    ['other routes', [route('c.example')]],
  ])('is free as soon as an update sends %s, and not before', async (_about, next) => {
    const { one, two } = await newTenant()
    await post(one, 'web', [route('a.example')])
    expect((await post(two, 'shop', [route('a.example')])).codes).toEqual(['route_conflict'])
    expect((await one.put(`${COLLECTION}/web`, { replicas: 2 })).status).toBe(200)
    expect((await post(two, 'shop', [route('a.example')])).codes).toEqual(['route_conflict'])
    expect((await put(one, 'web', next)).status).toBe(200)
    expect((await post(two, 'shop', [route('a.example')])).status).toBe(201)
    expect((await put(one, 'web', [route('a.example')])).codes).toEqual(['route_conflict'])
  })

  test('stays with its deployment when the routes are reordered or some are kept', async () => {
    const { id, one } = await newTenant()
    await post(one, 'web', [route('a.example', '/', 1), route('b.example', '/', 2), route('c.example')])
    const exchanged = [route('b.example', '/', 1), route('a.example', '/', 2), route('d.example')]
    expect((await put(one, 'web', exchanged)).status).toBe(200)
    expect(await claimsOf(id)).toEqual(['a.example / web', 'b.example / web', 'd.example / web'])
    expect((await put(one, 'web', [route('a.example', '/')])).status).toBe(200)
    expect(await claimsOf(id)).toEqual(['a.example / web'])
  })

  test('returns with a rollback if it is free, and is released by a rollback to a revision without it', async () => {
    const { id, one, two } = await newTenant()
    await post(one, 'web', [route('a.example')])
    await put(one, 'web', null)
    await post(two, 'shop', [route('a.example')])
    const rollBack = (revision: number) => two.post(`${COLLECTION}/web/rollback`, { revision })
    expect((await rollBack(1)).codes).toEqual(['route_conflict'])
    expect(await claimsOf(id)).toEqual(['a.example / shop'])
    await put(one, 'shop', [])
    expect(codes(await rollBack(1))).toBe('200')
    expect(await claimsOf(id)).toEqual(['a.example / web'])
    expect(codes(await one.post(`${COLLECTION}/web/restart`, undefined))).toBe('200')
    expect(await claimsOf(id)).toEqual(['a.example / web'])
    expect(codes(await rollBack(2))).toBe('200')
    expect(await claimsOf(id)).toEqual([])
  })

  test('belongs to its deployment until that is completely deleted', PATIENCE, async () => {
    const { id, one, two } = await newTenant()
    await post(one, 'web', [route('a.example'), route('b.example')])
    const address = inTenant(id, deployments, 'web')
    const mark = (change: Partial<StoredDeployment>) =>
      platform.server.store.transact((transaction) => {
        const stored = transaction.get(address)
        if (stored !== undefined) transaction.put(address, { ...stored, ...change })
        return { kind: 'commit', result: undefined }
      })
    // The test writes the deletion mark itself, because the controller would complete a deletion too soon to be observed.
    await mark({ deleting: true })
    expect((await post(two, 'shop', [route('b.example')])).codes).toEqual(['route_conflict'])
    await mark({ deleting: false })
    expect((await one.delete(`${COLLECTION}/web`)).status).toBe(202)
    await expect.poll(async () => (await one.get(`${COLLECTION}/web`)).status, { timeout: 30_000 }).toBe(404)
    expect(await claimsOf(id)).toEqual([])
    expect((await post(two, 'shop', [route('b.example')])).status).toBe(201)
  })
})

describe('concurrent claims', () => {
  const tally = (answers: readonly ApiAnswer[]) => {
    const counts: { [answer: string]: number } = {}
    for (const answer of answers) counts[codes(answer)] = (counts[codes(answer)] ?? 0) + 1
    return counts
  }

  test('100 POSTs with one route between them on two servers have one success', PATIENCE, async () => {
    const { id, one, two } = await newTenant()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        post(n % 2 === 0 ? one : two, `d${n}`, [route(`h${n}.example`), route('wanted.example')]),
      ),
    )
    expect(tally(answers)).toEqual({ 201: 1, route_conflict: 99 })
    const winner = answers.findIndex(({ status }) => status === 201)
    expect(await claimsOf(id)).toEqual([`h${winner}.example / d${winner}`, `wanted.example / d${winner}`])
  })

  test('100 PUTs for one route have one success', PATIENCE, async () => {
    const { id, one, two } = await newTenant()
    const names = Array.from({ length: 20 }, (_, n) => `d${n}`)
    await Promise.all(names.map((name) => post(one, name)))
    for (let round = 0; round < 5; round += 1) {
      const wanted = [route(`w${round}.example`)]
      const answers = await Promise.all(names.map((name, n) => put(n % 2 === 0 ? one : two, name, wanted)))
      expect(tally(answers)).toEqual({ 200: 1, route_conflict: 19 })
    }
    const kept = await Promise.all(names.map((name) => routesOf(two, name)))
    expect(await claimsOf(id)).toEqual(kept.flat().sort())
  })

  test('updates, deletions and creations leave exactly the claims of the records', PATIENCE, async () => {
    const { id, one, two } = await newTenant()
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(names.map((name) => post(one, name)))
    const draw = (n: number) => [route(`h${n % 5}.example`), route(`h${(n * 7) % 5}.example`, `/p${n % 2}`)]
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => {
        const api = n % 2 === 0 ? one : two
        const name = names[(n * 13) % 4] ?? 'a'
        if (n % 29 === 0) return api.delete(`${COLLECTION}/${name}`)
        if (n % 11 === 0) return post(api, name, draw(n))
        return put(api, name, n % 3 === 0 ? null : draw(n))
      }),
    )
    const known = new Set([
      '200',
      '201',
      '202',
      'route_conflict',
      'deployment_exists',
      'deployment_not_found',
    ])
    const given = answers.flatMap((answer) => codes(answer).split('+'))
    expect(given.filter((code) => !known.has(code))).toEqual([])
    expect(given.filter((code) => code === 'route_conflict').length).toBeGreaterThan(0)
    await expect
      .poll(
        async () => {
          const { text } = await one.get(COLLECTION)
          return text.includes('Deleting')
        },
        { timeout: 30_000 },
      )
      .toBe(false)
    const kept = await Promise.all(names.map((name) => routesOf(two, name)))
    expect(await claimsOf(id)).toEqual(kept.flat().sort())
    expect(new Set(kept.flat().map((line) => line.replace(/ \w$/, ''))).size).toBe(kept.flat().length)
  })

  test(
    '16 routes on a deployment with more dependencies than are compared are stored and replaced',
    PATIENCE,
    async () => {
      const { id, one } = await newTenant()
      const routes = Array.from({ length: 16 }, (_, n) => route(`h${n}.example`))
      await Promise.all(Array.from({ length: 150 }, (_, n) => post(one, `leaf-${n}`)))
      const middles = Array.from({ length: 10 }, (_, m) => `middle-${m}`)
      for (const [m, name] of middles.entries()) {
        const dependsOn = Object.fromEntries(
          Array.from({ length: 15 }, (_, n) => [`leaf-${m * 15 + n}`, 'started']),
        )
        await one.post(COLLECTION, { ...bodyOf(name, undefined), dependsOn })
      }
      const waitsFor = (names: string[]) => Object.fromEntries(names.map((name) => [name, 'started']))
      const wide = { ...bodyOf('wide', routes), dependsOn: waitsFor(middles) }
      expect(codes(await one.post(COLLECTION, wide))).toBe('201')
      const next = { routes: routes.map(({ host }) => route(`n-${host}`)), dependsOn: wide.dependsOn }
      expect(codes(await one.put(`${COLLECTION}/wide`, next))).toBe('200')
      expect(await claimsOf(id)).toHaveLength(16)
      // The transaction also compares the keys of absent records.
      await Promise.all(Array.from({ length: 150 }, (_, n) => one.delete(`${COLLECTION}/leaf-${n}`)))
      const left = async () => (await one.get(`${COLLECTION}?limit=500`)).text.includes('"name":"leaf-')
      await expect.poll(left, { timeout: 60_000 }).toBe(false)
      const dangling = { ...bodyOf('dangling', undefined), dependsOn: waitsFor(middles) }
      expect(codes(await one.post(COLLECTION, dangling))).toBe('201')
    },
  )
})
