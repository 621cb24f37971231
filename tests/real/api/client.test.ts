// The client library against a real platform: it decodes the responses of every endpoint, and loses no event through a
// proxy that keeps cutting the stream.

import { randomUUID } from 'node:crypto'
import { type Client, createClient, type Result, readAll, walkPages } from '@holdfast/client'
import { type ChaosProxy, startChaosProxy } from '@holdfast/testkit'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let platform: Platform
let proxy: ChaosProxy
let client: Client

beforeAll(async () => {
  platform = await ownPlatform()
  proxy = await startChaosProxy('127.0.0.1', platform.config.listen.port)
  client = createClient({ baseUrl: platform.baseUrl, token: platform.acme.token, tenant: platform.acme.id })
})
afterAll(async () => {
  await proxy.stop()
  await platform.stop()
})

const value = async <T>(result: Promise<Result<T>>): Promise<T> => {
  const outcome = await result
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure))
  return outcome.value
}
const body = (name: string, more: object = {}) => ({
  kind: 'Deployment',
  name,
  image: platform.image,
  ...more,
})

describe('the client decodes the responses of', () => {
  test('deployments, with ETag and If-Match', async () => {
    const { deployments, dryRuns } = client
    const planned = await value(dryRuns.create(body('web')))
    expect(planned.plan).toMatchObject({ action: 'create', placement: { unplaced: 1 } })
    const { deployment } = await value(deployments.create(body('web')))
    const read = await deployments.read('web')
    expect(read).toMatchObject({ ok: true, etag: '1' })
    expect(await value(dryRuns.update('web', { replicas: 2 }))).toMatchObject({
      plan: { action: 'update' },
    })
    await value(deployments.update('web', { replicas: 2 }, { ifMatch: '1' }))
    expect(await deployments.update('web', { replicas: 3 }, { ifMatch: '1' })).toMatchObject({
      failure: { kind: 'rejected', status: 412, rejections: [{ code: 'revision_conflict' }] },
    })
    expect((await value(deployments.status('web'))).timeline.length).toBeGreaterThan(0)
    expect((await value(deployments.placements(deployment.uid))).items).toEqual([])
    expect((await value(deployments.why('web'))).candidates).toEqual([])
    expect((await value(deployments.archived('web'))).items).toHaveLength(2)
    expect(await value(deployments.archivedRevision('web', 1))).toMatchObject({ revision: 1 })
    expect(await value(dryRuns.rollBack('web', 1))).toMatchObject({ plan: { action: 'update' } })
    expect(await value(deployments.rollBack('web', 1))).toMatchObject({
      deployment: { revision: 3, replicas: 1 },
    })
    expect((await value(deployments.restart('web'))).deployment.name).toBe('web')
    await value(deployments.remove('web'))
  })

  test('an operation that is sent twice with one key and done once', async () => {
    const idempotencyKey = randomUUID()
    const first = await value(client.deployments.create(body('once'), { idempotencyKey }))
    const again = await value(client.deployments.create(body('once'), { idempotencyKey }))
    expect(again).toEqual(first)
    expect(await client.deployments.create(body('once'))).toMatchObject({
      failure: { rejections: [{ code: 'deployment_exists' }] },
    })
  })

  test('nodes', async () => {
    const id = await makeNode(platform.baseUrl, platform.api(platform.acme.token), 'n1')
    const { nodes } = client
    expect(
      (await value(nodes.issueJoinToken({ nodeName: 'n2', residency: { country: 'DE' } }))).token,
    ).toMatch(/^hfj_/)
    expect((await value(nodes.list())).items).toHaveLength(1)
    expect(await value(nodes.read(id))).toMatchObject({ id, name: 'n1' })
    expect(await value(nodes.cordon(id))).toMatchObject({ schedulable: false })
    expect(await value(nodes.uncordon(id))).toMatchObject({ schedulable: true })
    expect(await value(nodes.drain(id))).toMatchObject({ schedulable: false })
    expect(await nodes.containers(id)).toMatchObject({ failure: { status: 503 } })
    expect(await nodes.setControlPlane(id, true)).toMatchObject({ failure: { status: 403 } })
    await value(nodes.releaseClaim('n1'))
    expect(await nodes.remove(id, { force: true })).toMatchObject({ failure: { status: 404 } })
  })

  test('secrets', async () => {
    const { secrets } = client
    const sent = { values: { user: 'u' }, generate: { keys: ['password'] } }
    const written = await value(secrets.set('resources', 'orders-db', sent))
    expect(written).toMatchObject({ path: 'resources/orders-db', version: 1, keys: ['user', 'password'] })
    await value(
      client.deployments.create({
        ...body('refers'),
        replicas: 0,
        secrets: [{ name: 'DB', vault_path: 'resources/orders-db', anchor: 'external' }],
      }),
    )
    expect((await value(secrets.list())).items).toMatchObject([{ consumers: ['refers'] }])
    expect((await value(secrets.references())).items).toMatchObject([{ hasMaterial: true, consumers: 1 }])
    const { items } = await value(secrets.consumers('orders-db', { limit: 1 }))
    expect(items).toMatchObject([{ deployment: 'refers', secret: 'DB', version: 1 }])
    expect(await secrets.remove('resources', 'orders-db')).toMatchObject({ failure: { status: 409 } })
    expect(await secrets.set('resources', 'a/b', sent)).toMatchObject({
      failure: { rejections: [{ code: 'secret_path_shape' }] },
    })
  })

  test('registries, regions, quotas, audit entries, events and error codes', async () => {
    const { enforcement, regions } = await value(client.scheduler.regions())
    expect([enforcement, regions.find(({ name }) => name === 'dach')?.countries]).toEqual([
      true,
      ['AT', 'CH', 'DE'],
    ])
    const host = platform.registryHost
    await value(client.registries.setCredential(host, { username: 'u', password: 'p' }))
    expect((await value(client.registries.list())).items).toMatchObject([{ host, credential: true }])
    await value(client.registries.removeCredential(host))
    expect((await value(client.tenants.quotas())).items.length).toBeGreaterThan(3)
    expect((await value(client.audit())).items.length).toBeGreaterThan(5)
    expect((await value(client.events({ limit: 2, type: 'deployment.created' }))).items.length).toBe(2)
    const codes = await value(client.errors())
    expect(await value(client.error('image_required'))).toEqual(
      codes.items.find(({ code }) => code === 'image_required'),
    )
  })

  test('tenants and tokens, as a platform-admin', async () => {
    const { tenants } = createClient({ baseUrl: platform.baseUrl, token: platform.platformToken })
    const created = await value(tenants.create({ name: 'initech' }))
    expect(await value(tenants.change(created.id, { quotas: { nodes: 3 } }, { ifMatch: '1' }))).toMatchObject(
      {
        quotas: { nodes: 3 },
      },
    )
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const token = await value(tenants.issueToken(created.id, { name: 'ci', role: 'viewer', expiresAt }))
    expect(token.token).toMatch(/^hf_/)
    expect((await value(tenants.tokens(created.id))).items).toMatchObject([{ id: token.id }])
    await value(tenants.revokeToken(created.id, token.id))
    expect((await value(readAll((page) => tenants.list(page)))).map(({ id }) => id)).toContain(created.id)
    expect(await value(tenants.read(created.id))).toMatchObject({ name: 'initech' })
    await value(tenants.remove(created.id))
  })
})

describe('lists of the client', () => {
  test('are read to their end, page by page', async () => {
    for (const name of ['p1', 'p2', 'p3']) await value(client.deployments.create(body(name)))
    const sizes: number[] = []
    const small = walkPages((page) => client.deployments.list({ ...page, limit: 2 }))
    for await (const page of small) sizes.push(page.ok ? page.value.length : -1)
    const all = await value(readAll((page) => client.deployments.list(page)))
    expect(sizes.slice(0, -1).every((size) => size === 2)).toBe(true)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(all.length)
  })
})

describe('the event stream of the client', () => {
  test('delivers each event once and in order through a hundred cut connections', async () => {
    const through = createClient({
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      token: platform.acme.token,
      runtime: { wait: async () => {} },
    })
    const { nextCursor } = await value(client.events({ limit: 1 }))
    const end = new AbortController()
    const seen: string[] = []
    let cuts = 0
    const reading = (async () => {
      for await (const news of through.followEvents({ after: nextCursor ?? '0-0', signal: end.signal })) {
        if (news.kind === 'event') seen.push(news.cursor)
        if (news.kind === 'resuming') cuts += 1
        if (news.kind === 'failed') throw new Error(JSON.stringify(news.failure))
        if (cuts < 100) proxy.cutAfterBytes(300 + ((cuts * 131) % 700), 'toClient')
      }
    })()
    proxy.cutAfterBytes(400, 'toClient')
    for (let created = 0; cuts < 100 && created < 180; created += 1) {
      await value(client.deployments.create(body(`cut-${created}`)))
      await value(client.deployments.update(`cut-${created}`, { replicas: 2 }))
    }
    expect(cuts).toBeGreaterThanOrEqual(100)
    proxy.resume()
    const listed = await allAfter(nextCursor ?? '0-0')
    expect(listed.length).toBeGreaterThanOrEqual(100)
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(listed.length)
    end.abort()
    await reading
    expect(seen).toEqual(listed)
  })

  /** Reads all events after a cursor, one per request, so that the server does not merge similar events. */
  async function allAfter(cursor: string): Promise<string[]> {
    const cursors: string[] = []
    for (let after = cursor; ; ) {
      const page = await value(client.events({ after, limit: 1 }))
      const [item] = page.items
      if (item === undefined) return cursors
      cursors.push(item.cursor)
      after = item.cursor
    }
  }
})
