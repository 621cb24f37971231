// Tests of tenants, tokens, quotas and the audit log over HTTP.

import { startChaosProxy } from '@holdfast/testkit'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpKeys, dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import {
  type Platform,
  type Replica,
  startPlatform,
  startReplica,
} from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'

let platform: Platform
let other: Replica
let admin: ApiClient
let acme: ApiClient
beforeAll(async () => {
  platform = await startPlatform()
  other = await startReplica(platform)
  admin = platform.api()
  acme = platform.api(platform.acme.token)
})
afterAll(async () => {
  await other.stop()
  await platform.stop()
})

const bodyOf = (name: string) => ({ kind: 'Deployment', name, image: platform.image })
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

async function newTenant(name: string) {
  const { body, status } = await admin.post('/api/v1/tenants', { name })
  expect(status).toBe(201)
  const id = String(body['id'])
  return { id, path: `/api/v1/tenants/${id}`, token: await makeToken(admin, id, 'tenant-admin') }
}

interface AuditItem {
  readonly action: string
  readonly onBehalf: boolean
  readonly requestId: string
  readonly actor: { readonly token: string; readonly name?: string; readonly role: string }
  readonly subject: { readonly kind: string; readonly name: string }
  readonly revision?: number
}

async function auditOf(api: ApiClient, headers = {}): Promise<AuditItem[]> {
  const { body } = await api.get('/api/v1/audit?limit=500&sort=oldest', headers)
  return Object.values(Object(body['items']))
}

describe('tenants', () => {
  test('are created, read, updated and listed', async () => {
    const { id, path } = await newTenant('initech')
    const read = await admin.get(path)
    expect(read.body).toMatchObject({ id, name: 'initech', platform: false, quotas: {}, revision: 1 })
    expect(read.headers.get('etag')).toBe('"1"')
    const changed = await admin.send('PATCH', path, { quotas: { deployments: 3 } }, { 'if-match': '"1"' })
    expect(changed.body).toMatchObject({ name: 'initech', quotas: { deployments: 3 }, revision: 2 })
    const renamed = await admin.send('PATCH', path, { name: 'initrode', quotas: { nodes: 1 } })
    expect(renamed.body).toMatchObject({
      name: 'initrode',
      quotas: { deployments: 3, nodes: 1 },
      revision: 3,
    })
    const before = await dumpTenants(platform)
    const same = await admin.send('PATCH', path, { name: 'initrode', quotas: { nodes: 1 } })
    expect([same.status, same.headers.get('etag')]).toEqual([200, '"3"'])
    expect(await dumpTenants(platform)).toEqual(before)
    expect((await admin.send('PATCH', path, { name: 'x' }, { 'if-match': '"1"' })).codes).toEqual([
      'revision_conflict',
    ])
    expect((await admin.get('/api/v1/tenants?limit=500')).text).toContain('"initrode"')
  })

  test('read themselves and no other tenant, and only the platform lists and writes them', async () => {
    expect((await acme.get(`/api/v1/tenants/${platform.acme.id}`)).body['name']).toBe('acme')
    expect((await acme.get(`/api/v1/tenants/${platform.globex.id}`)).codes).toEqual(['tenant_not_found'])
    expect((await acme.get('/api/v1/tenants')).codes).toEqual(['permission_denied'])
    expect((await acme.post('/api/v1/tenants', { name: 'mine' })).codes).toEqual(['permission_denied'])
    const own = `/api/v1/tenants/${platform.acme.id}`
    expect((await acme.send('PATCH', own, { quotas: { deployments: 999 } })).codes).toEqual([
      'permission_denied',
    ])
  })

  test('have unique names, also when created or renamed at once', async () => {
    const create = () => admin.post('/api/v1/tenants', { name: 'only-one' })
    const raced = await Promise.all([
      create(),
      create(),
      create(),
      other.api(platform.platformToken).post('/api/v1/tenants', { name: 'only-one' }),
    ])
    expect(raced.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    expect((await create()).body).toMatchObject({ code: 'tenant_exists', field: 'name' })
    const [one, two] = [await newTenant('first-name'), await newTenant('second-name')]
    const rename = (path: string, name: string) => admin.send('PATCH', path, { name })
    expect((await rename(one.path, 'second-name')).codes).toEqual(['tenant_exists'])
    const swapped = await Promise.all([rename(one.path, 'wanted'), rename(two.path, 'wanted')])
    expect(swapped.map(({ status }) => status).sort()).toEqual([200, 409])
    // A released name is free again, and a name of the form of an id is not accepted.
    const [freed = ''] = ['first-name', 'second-name'].filter((_, at) => swapped[at]?.status === 200)
    expect((await admin.post('/api/v1/tenants', { name: freed })).status).toBe(201)
    const uuid = 'abcdef12-0000-4000-8000-000000000000'
    expect((await admin.post('/api/v1/tenants', { name: uuid })).codes).toEqual(['field_type_invalid'])
    expect((await admin.post('/api/v1/tenants', { name: 'platform' })).codes).toEqual(['tenant_exists'])
  })

  test('are named by id or name in a path, by their id in X-Tenant-ID', async () => {
    const { id, token } = await newTenant('named')
    const own = platform.api(token)
    for (const api of [admin, own]) {
      expect((await api.get('/api/v1/tenants/named')).body).toMatchObject({ id, name: 'named' })
      expect((await api.get('/api/v1/tenants/named', { 'x-tenant-id': id })).status).toBe(200)
      expect((await api.get('/api/v1/tenants/named/tokens')).status).toBe(200)
      expect((await api.get('/api/v1/quotas', { 'x-tenant-id': 'named' })).codes).toEqual(['header_invalid'])
    }
    // A foreign name and a missing one have the same answer.
    for (const name of ['acme', 'nowhere'])
      expect((await own.get(`/api/v1/tenants/${name}`)).codes).toEqual(['tenant_not_found'])
    const mixed = await admin.get('/api/v1/tenants/named', { 'x-tenant-id': platform.acme.id })
    expect(mixed.codes).toEqual(['header_invalid'])
  })

  test('and tokens are known to the caller by GET /me', async () => {
    const { id, token } = await newTenant('asking')
    const viewer = platform.api(await makeToken(admin, id, 'viewer'))
    const { body } = await viewer.get('/api/v1/me')
    expect(body).toMatchObject({
      tenant: { id, name: 'asking' },
      token: { id: expect.stringMatching(/^tok_/), name: expect.any(String), role: 'viewer' },
      actions: expect.arrayContaining(['deployments:read']),
      server: { version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    })
    expect(body['actions']).not.toContain('deployments:write')
    expect((await platform.api(token).get('/api/v1/me')).body['actions']).toContain('tokens:write')
    const chosen = await admin.get('/api/v1/me', { 'x-tenant-id': id })
    expect(chosen.body).toMatchObject({ tenant: { name: 'asking' }, token: { role: 'platform-admin' } })
  })

  test('lose their tokens at once when removed, and leave no key behind', async () => {
    const { id, path, token } = await newTenant('leaving')
    const own = platform.api(token)
    await own.post(COLLECTION, bodyOf('web'), { 'idempotency-key': 'x' })
    await own.put(`${COLLECTION}/web`, { replicas: 2 })
    const gone = await admin.delete(path)
    expect(gone.status).toBe(202)
    expect(gone.body['deleting']).toBe(true)
    expect((await own.get(COLLECTION)).codes).toEqual(['unauthenticated'])
    expect((await other.api(token).get(COLLECTION)).codes).toEqual(['unauthenticated'])
    await expect.poll(async () => (await admin.get(path)).status, { timeout: 20_000 }).toBe(404)
    const left = await dumpKeys(platform.config.etcd.endpoints[0] ?? '', `${platform.root}/`)
    const tokenId = `tok_${token.split('_')[1]}`
    expect(Object.keys(left).filter((key) => key.includes(id) || key.includes(tokenId))).toEqual([])
    expect(Object.values(left).filter((value) => String(value).includes(id))).toEqual([])
    expect((await admin.post('/api/v1/tenants', { name: 'leaving' })).status).toBe(201)
  })

  test('the platform tenant cannot be removed', async () => {
    const { body } = await admin.get('/api/v1/tenants?limit=500')
    const items: { id: string; platform: boolean }[] = Object(body['items'])
    const own = items.find((tenant) => tenant.platform)
    expect((await admin.delete(`/api/v1/tenants/${own?.id}`)).codes).toEqual(['permission_denied'])
  })
})

describe('tokens', () => {
  test('compare If-Match when they are revoked', async () => {
    const path = `/api/v1/tenants/${platform.acme.id}/tokens`
    const api = platform.api()
    const issued = await api.post(path, { name: 'x', role: 'viewer', expiresAt: inSeconds(60) })
    const own = `${path}/${issued.body['id']}`
    expect((await api.delete(own, { 'if-match': '"2"' })).codes).toEqual(['revision_conflict'])
    const revoked = await api.delete(own, { 'if-match': '"1"' })
    expect([revoked.status, revoked.headers.get('etag')]).toEqual([202, '"1"'])
  })

  test('are returned once, listed without secrets, and never exceed the role of their issuer', async () => {
    const path = `/api/v1/tenants/${platform.acme.id}/tokens`
    const sent = { name: 'ci', role: 'developer', expiresAt: inSeconds(60) }
    const { body, status } = await acme.post(path, sent)
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...sent, id: expect.stringMatching(/^tok_/) })
    const secretHalf = String(body['token']).slice(String(body['id']).length + 1)
    const list = await acme.get(path)
    expect(list.text).toContain(String(body['id']))
    expect(list.text).not.toContain(secretHalf)
    const viewer = platform.api(await makeToken(admin, platform.acme.id, 'viewer'))
    expect((await viewer.post(path, sent)).codes).toEqual(['permission_denied'])
    const raised = { ...sent, role: 'platform-admin' }
    expect((await acme.post(path, raised)).codes).toEqual(['permission_denied'])
    expect((await admin.post(path, raised)).codes, 'of a tenant, for any issuer').toEqual([
      'permission_denied',
    ])
    expect((await acme.post(path, { ...sent, expiresAt: undefined })).codes).toEqual(['field_type_invalid'])
  })

  test('expire', async () => {
    const path = `/api/v1/tenants/${platform.acme.id}/tokens`
    // The token expires after five seconds, so that it can be used once even with a slow disk.
    const { body } = await acme.post(path, { name: 'short', role: 'viewer', expiresAt: inSeconds(5) })
    const short = platform.api(String(body['token']))
    expect((await short.get(COLLECTION)).status).toBe(200)
    await expect
      .poll(async () => (await short.get(COLLECTION)).codes, { timeout: 20_000 })
      .toEqual(['unauthenticated'])
  })

  test('are rejected by every server as soon as they are revoked, for reads and writes', async () => {
    const path = `/api/v1/tenants/${platform.acme.id}/tokens`
    for (let round = 0; round < 30; round += 1) {
      const { body } = await acme.post(path, { name: 'r', role: 'developer', expiresAt: inSeconds(60) })
      const token = String(body['token'])
      const elsewhere = other.api(token)
      expect((await elsewhere.get(COLLECTION)).status).toBe(200)
      expect((await acme.delete(`${path}/${body['id']}`)).status).toBe(202)
      const [read, write] = await Promise.all([
        elsewhere.get(COLLECTION),
        elsewhere.post(COLLECTION, bodyOf(`never-${round}`)),
      ])
      expect(read.codes).toEqual(['unauthenticated'])
      expect(write.codes).toEqual(['unauthenticated'])
    }
    expect((await acme.get(COLLECTION)).text).not.toContain('never-')
  })

  test('that are revoked are rejected by a server whose watch lags', async () => {
    const etcd = new URL(platform.config.etcd.endpoints[0] ?? '')
    const proxy = await startChaosProxy(etcd.hostname, Number(etcd.port))
    const late = await startReplica(platform, {
      etcd: { ...platform.config.etcd, endpoints: [`http://${proxy.host}:${proxy.port}`] },
    })
    const path = `/api/v1/tenants/${platform.acme.id}/tokens`
    const { body } = await acme.post(path, { name: 'r', role: 'developer', expiresAt: inSeconds(60) })
    const api = late.api(String(body['token']))
    expect((await api.get(COLLECTION)).status).toBe(200)
    proxy.delay(300)
    expect((await acme.delete(`${path}/${body['id']}`)).status).toBe(202)
    const [read, write] = await Promise.all([api.get(COLLECTION), api.post(COLLECTION, bodyOf('too-late'))])
    expect([read.codes, write.codes]).toEqual([['unauthenticated'], ['unauthenticated']])
    proxy.resume()
    await late.stop()
    await proxy.stop()
  })

  test('get the same rejection, whatever is wrong with them', async () => {
    const [id = '', secret = ''] = platform.acme.token.slice(3).split(/_(.*)/s)
    const wrong = [
      `hf_${id}_${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`,
      `hf_01JD0000000000000000000000_${secret}`,
      platform.acme.token.toLowerCase(),
      `${platform.acme.token}x`,
      'x',
    ]
    for (const token of wrong) {
      const { status, body } = await platform.api(token).get(COLLECTION)
      expect(status).toBe(401)
      expect(body).toMatchObject({ code: 'unauthenticated', why: expect.any(String) })
    }
  })
})

describe('quotas', () => {
  test("show used and limit of each kind, with the tenant's own limits or the defaults", async () => {
    const { path, token } = await newTenant('counted')
    const own = platform.api(token)
    const before = (await own.get('/api/v1/quotas')).body['items']
    expect(before).toContainEqual({ kind: 'deployments', used: 0, limit: 200 })
    expect(before).toContainEqual({ kind: 'nodes', used: 0, limit: 50 })
    await admin.send('PATCH', path, { quotas: { deployments: 2 } })
    await own.post(COLLECTION, bodyOf('one'))
    await own.post(COLLECTION, bodyOf('two'))
    expect((await own.post(COLLECTION, bodyOf('three'))).codes).toEqual(['quota_exceeded'])
    await admin.send('PATCH', path, { quotas: { deployments: 1 } })
    expect((await own.get('/api/v1/quotas')).body['items']).toContainEqual({
      kind: 'deployments',
      used: 2,
      limit: 1,
    })
    expect((await own.put(`${COLLECTION}/one`, { replicas: 2 })).status, 'what is there may change').toBe(200)
    await own.delete(`${COLLECTION}/one`)
    await expect.poll(async () => (await own.get(`${COLLECTION}/one`)).status).toBe(404)
    expect((await own.post(COLLECTION, bodyOf('three'))).codes).toEqual(['quota_exceeded'])
    await admin.send('PATCH', path, { quotas: { deployments: 2 } })
    expect((await own.post(COLLECTION, bodyOf('three'))).status).toBe(201)
  })
})

describe('the audit log', () => {
  test('has exactly one entry for each accepted write, and no other', async () => {
    const { id, path, token } = await newTenant('audited')
    const own = platform.api(token)
    const tokens = `${path}/tokens`
    const accepted = [
      await own.post(COLLECTION, bodyOf('web')),
      await own.put(`${COLLECTION}/web`, { replicas: 2 }),
      await own.post(tokens, { name: 'x', role: 'viewer', expiresAt: inSeconds(60) }),
      await own.put(`/api/v1/registries/${platform.registryHost}/credential`, {
        username: 'u',
        password: 'p',
      }),
      await own.delete(`/api/v1/registries/${platform.registryHost}/credential`),
      await admin.send('PATCH', path, { quotas: { deployments: 9 } }),
      await admin.post(COLLECTION, bodyOf('for-them'), { 'x-tenant-id': id }),
      await own.delete(`${COLLECTION}/web`),
    ]
    await own.put(`${COLLECTION}/for-them`, {})
    await own.post(COLLECTION, bodyOf('for-them'))
    await own.post(`${COLLECTION}?dryRun=true`, bodyOf('dry'))
    await own.post(COLLECTION, bodyOf('NO'))
    const entries = (await auditOf(own)).slice(1)
    expect(entries.map(({ action }) => action)).toEqual([
      'deployments:created',
      'deployments:updated',
      'tokens:issue',
      'registries:credential-written',
      'registries:credential-removed',
      'tenants:change',
      'deployments:created',
      'deployments:removed',
    ])
    expect(entries.map(({ requestId }) => requestId)).toEqual(
      accepted.map(({ headers }) => headers.get('x-request-id')),
    )
    const behalf = entries.filter(({ onBehalf }) => onBehalf)
    expect(behalf.map(({ action, actor }) => `${action} ${actor.role}`)).toEqual([
      'tenants:change platform-admin',
      'deployments:created platform-admin',
    ])
    const ownToken = `tok_${token.split('_')[1]}`
    expect(entries.filter(({ onBehalf }) => !onBehalf).every(({ actor }) => actor.token === ownToken)).toBe(
      true,
    )
    expect(entries[1]).toMatchObject({ subject: { kind: 'Deployment', name: 'web' }, revision: 2 })
    const me = (await own.get('/api/v1/me')).body['token']
    expect(entries[1]?.actor.name).toBe(Object(me).name)
    const archived = await own.get('/api/v1/archives/deployments/for-them')
    const [{ authorName = '' } = {}] = Object(archived.body['items'])
    expect(authorName).toBe(Object((await admin.get('/api/v1/me')).body['token']).name)
  })

  test("of the platform has the platform's own writes", async () => {
    await newTenant('founded')
    const entries = await auditOf(admin)
    expect(entries.map(({ action }) => action)).toContain('tenants:create')
    expect(entries.every(({ onBehalf }) => !onBehalf)).toBe(true)
  })

  test('has no rejected requests; those are in the server log with identity and reason', async () => {
    const before = await dumpTenants(platform)
    const answer = await acme.post(COLLECTION, { ...bodyOf('bad'), replicas: -1 })
    expect(await dumpTenants(platform)).toEqual(before)
    const id = answer.headers.get('x-request-id') ?? '-'
    await expect
      .poll(() => platform.logLines.find((line) => line.includes(id) && line.includes('replicas_negative')))
      .toContain(platform.acme.id)
  })
})

describe('lists', () => {
  test('are paged in order, with each item once', async () => {
    const { token } = await newTenant('paged')
    const own = platform.api(token)
    const names = Array.from({ length: 7 }, (_, index) => `d${index}`)
    for (const name of names.toReversed()) await own.post(COLLECTION, bodyOf(name))
    for (let replicas = 2; replicas < 7; replicas += 1) await own.put(`${COLLECTION}/d0`, { replicas })
    const read = async (path: string) => {
      const items: { [name: string]: unknown }[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = await own.get(`${path}?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
        const { items: found, nextCursor } = Object(page.body)
        expect(found.length).toBeLessThanOrEqual(3)
        items.push(...found)
        cursor = nextCursor
      }
      return items
    }
    expect((await read(COLLECTION)).map(({ name }) => name)).toEqual(names)
    expect((await read('/api/v1/archives/deployments/d0')).map(({ revision }) => revision)).toEqual([
      1, 2, 3, 4, 5, 6,
    ])
    const audit = await read('/api/v1/audit')
    expect(audit).toHaveLength(1 + 7 + 5)
    expect(new Set(audit.map(({ id }) => id)).size).toBe(13)
  })

  test('of events continue from a cursor, none lost and none twice', async () => {
    const { token } = await newTenant('eventful')
    const own = platform.api(token)
    const seen: string[] = []
    let cursor = Object((await own.get('/api/v1/events')).body)['nextCursor']
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 10 }, (_, n) => own.post(COLLECTION, bodyOf(`e${round}-${n}`))))
      const { items, nextCursor } = Object((await own.get(`/api/v1/events?after=${cursor}&limit=500`)).body)
      seen.push(...items.map((event: { subject: { name: string } }) => event.subject.name))
      cursor = nextCursor
    }
    expect(seen).toHaveLength(50)
    expect(new Set(seen).size).toBe(50)
    const typed = await own.get('/api/v1/events?type=deployment.created&subject=e0-0')
    expect(typed.body['items']).toHaveLength(1)
    expect((await own.get('/api/v1/events?severity=error')).body['items']).toEqual([])
  })
})
