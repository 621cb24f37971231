// Enrolled nodes over HTTP: reading, cordoning, releasing and removing them, and deployments that refer to them.

import type { TenantId } from '@holdfast/contract'
import { finishRelease } from '@holdfast/server/operations/nodes/release-node'
import { nodeNames } from '@holdfast/server/store/records'
import { globally } from '@holdfast/server/store/transaction'
import { realClock } from '@holdfast/server/system-clock'
import { assign } from '@holdfast/testkit/nodes/assign'
import { enroll, enrollment, joinToken, makeNode } from '@holdfast/testkit/nodes/enroll'
import { typesOf } from '@holdfast/testkit/nodes/read-events'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const NODES = '/api/v1/nodes'
const UNKNOWN = `node_${'0'.repeat(26)}`

let platform: Platform
let acme: ApiClient
let globex: ApiClient
beforeAll(async () => {
  platform = await ownPlatform({ settings: { quotas: { nodes: 200 } } })
  acme = platform.api(platform.acme.token)
  globex = platform.api(platform.globex.token)
})
afterAll(() => platform.stop())

const store = () => platform.server.store
const join = (body: unknown) => enroll(platform.baseUrl, body)
const node = (name: string, parts: Parameters<typeof makeNode>[3] = {}, api = acme) =>
  makeNode(platform.baseUrl, api, name, parts)
const asTenant = (id: string) => ({ 'x-tenant-id': id })
const release = (api: ApiClient, name: string, tenant: string) =>
  api.delete(`${NODES}/${name}/claim`, asTenant(tenant))
const field = ({ body }: ApiAnswer) => body['field']

describe('reading nodes', () => {
  test('lists them by name in pages, and only those of the own tenant', async () => {
    const made = await platform.api().post('/api/v1/tenants', { name: 'lister' })
    const api = platform.api(await makeToken(platform.api(), String(made.body['id']), 'tenant-admin'))
    for (const name of ['p3', 'p1', 'p2']) await node(name, {}, api)
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await api.get(`${NODES}?limit=2${cursor && `&cursor=${cursor}`}`)
      const { items, nextCursor }: { items: { name: string }[]; nextCursor: string | null } = Object(body)
      seen.push(...items.map(({ name }) => name))
      cursor = nextCursor ?? ''
    } while (cursor !== '')
    expect(seen).toEqual(['p1', 'p2', 'p3'])
  })

  test('a foreign node gets the responses of a missing one and stays unchanged', async () => {
    const id = await node('private', {}, globex)
    const before = await dumpTenants(platform)
    const asks: ((id: string) => Promise<ApiAnswer>)[] = [
      (each) => acme.get(`${NODES}/${each}`),
      (each) => acme.get(`${NODES}/${each}/containers`),
      (each) => acme.post(`${NODES}/${each}/cordon`, undefined),
      (each) => acme.post(`${NODES}/${each}/uncordon`, undefined),
      (each) => acme.delete(`${NODES}/${each}?force=true`),
      (each) =>
        platform.api().send('PATCH', `${NODES}/${each}`, { controlPlane: true }, asTenant(platform.acme.id)),
    ]
    for (const ask of asks) {
      const [foreign, missing] = [await ask(id), await ask(UNKNOWN)]
      expect(foreign.codes).toEqual(['node_not_found'])
      expect(foreign.text.replaceAll(id, UNKNOWN)).toBe(missing.text)
    }
    const [foreign, missing] = [
      await release(acme, 'private', platform.acme.id),
      await release(acme, 'missing-node', platform.acme.id),
    ]
    expect(foreign.codes).toEqual(['node_not_found'])
    expect(foreign.text.replaceAll('private', 'missing-node')).toBe(missing.text)
    expect(await dumpTenants(platform)).toEqual(before)
  })

  test('reports the containers of an unreachable machine as unknown, not as none', async () => {
    const id = await node('silent')
    const answer = await acme.get(`${NODES}/${id}/containers`)
    expect(answer.status).toBe(503)
    expect(answer.codes).toEqual(['job_node_candidates_unresolvable'])
  })
})

describe('a node', () => {
  test('is cordoned and uncordoned, and a change without effect emits no event', async () => {
    const id = await node('closing')
    for (const schedulable of [false, false, true, true]) {
      const verb = schedulable ? 'uncordon' : 'cordon'
      const { status, body } = await acme.post(`${NODES}/${id}/${verb}`, undefined)
      expect([status, body['schedulable']]).toEqual([200, schedulable])
    }
    expect(await typesOf(acme, 'closing')).toEqual([
      'node.enrolled enrolled',
      'node.cordoned cordoned',
      'node.cordoned uncordoned',
    ])
  })

  test.each(['cordon', 'uncordon', 'drain'])(
    'is not changed by a %s whose If-Match is stale',
    async (verb) => {
      const name = `matched-${verb}`
      const id = await node(name)
      const one = `${NODES}/${id}`
      const act = (etag: string) => acme.send('POST', `${one}/${verb}`, undefined, { 'if-match': etag })
      const before = (await acme.get(one)).headers.get('etag') ?? ''
      const stale = await act('"1"')
      expect([stale.status, stale.codes, stale.body['expected']]).toEqual([
        412,
        ['revision_conflict'],
        expect.stringContaining(before),
      ])
      expect((await acme.get(one)).headers.get('etag')).toBe(before)
      expect((await act(before)).status).toBe(verb === 'drain' ? 202 : 200)
      const claim = { ...asTenant(platform.acme.id), 'if-match': '"1"' }
      expect((await acme.delete(`${NODES}/${name}/claim`, claim)).codes).toEqual(['revision_conflict'])
      const etag = (await acme.get(one)).headers.get('etag') ?? ''
      const released = await acme.delete(`${NODES}/${name}/claim`, { ...claim, 'if-match': etag })
      expect(released.status).toBe(202)
    },
  )

  test('is marked as control-plane node by a platform-admin only, who alone may then remove it', async () => {
    const id = await node('carrier')
    const patch = (api: ApiClient, body: unknown, headers = {}) =>
      api.send('PATCH', `${NODES}/${id}`, body, { ...asTenant(platform.acme.id), ...headers })
    expect((await patch(acme, { controlPlane: true })).codes).toEqual(['permission_denied'])
    expect((await patch(platform.api(), {})).codes).toEqual(['field_type_invalid'])
    expect((await patch(platform.api(), { controlPlane: true }, { 'if-match': '"1"' })).codes).toEqual([
      'revision_conflict',
    ])
    expect((await patch(platform.api(), { controlPlane: true })).body['controlPlane']).toBe(true)
    for (const refused of [
      await acme.delete(`${NODES}/${id}?force=true`),
      await release(acme, 'carrier', platform.acme.id),
    ])
      expect(refused.codes).toEqual(['permission_denied'])
    // A new enrollment does not remove the node's control-plane mark.
    await join(enrollment('carrier', await joinToken(acme, 'carrier')))
    expect((await acme.get(`${NODES}/${id}`)).body['controlPlane']).toBe(true)
    expect((await patch(platform.api(), { controlPlane: false })).body['controlPlane']).toBe(false)
    expect((await acme.delete(`${NODES}/${id}`)).status).toBe(202)
  })

  test('without containers is removed at once with its name and its slot, and If-Match is honored', async () => {
    const id = await node('leaving')
    const stale = await acme.delete(`${NODES}/${id}`, { 'if-match': '"1"' })
    expect(stale.codes).toEqual(['revision_conflict'])
    const etag = (await acme.get(`${NODES}/${id}`)).headers.get('etag') ?? ''
    expect((await acme.delete(`${NODES}/${id}`, { 'if-match': etag })).status).toBe(202)
    expect((await acme.get(`${NODES}/${id}`)).codes).toEqual(['node_not_found'])
    expect(store().get(globally(nodeNames, 'leaving'))).toBeUndefined()
    expect(await typesOf(acme, 'leaving')).toContain('node.claim_released removed')
    expect(await node('leaving', {}, globex)).toMatch(/^node_/)
  })

  test('that has failed is removed by force though a replica is assigned to it', async () => {
    const id = await node('dead')
    const assigned = await assign(store(), platform.acme.id, id)
    const waiting = await acme.delete(`${NODES}/${id}`)
    expect(waiting.status).toBe(202)
    expect(waiting.body['claims']).toEqual([{ own: true, state: 'releasing' }])
    expect((await acme.get(`${NODES}/${id}`)).body['schedulable']).toBe(false)
    expect((await acme.delete(`${NODES}/${id}?force=true`)).status).toBe(202)
    expect((await acme.get(`${NODES}/${id}`)).codes).toEqual(['node_not_found'])
    expect(await typesOf(acme, 'dead')).toContain('node.claim_released forced')
    await assigned.gone()
  })
})

describe('a claim', () => {
  test('is released with the tenant named in the header, and not without', async () => {
    await node('named')
    for (const headers of [{}, { 'x-tenant-id': 'acme' }, { 'x-tenant-id': '' }]) {
      const refused = await acme.delete(`${NODES}/named/claim`, headers)
      expect(refused.codes).toEqual(['node_claim_release_no_tenant'])
      expect(refused.status).toBe(400)
      expect(field(refused)).toBe('X-Tenant-ID')
    }
    expect((await release(acme, 'named', platform.globex.id)).codes).toEqual(['permission_denied'])
    expect((await release(acme, 'named', platform.acme.id)).status).toBe(202)
    expect(await typesOf(acme, 'named')).toContain('node.claim_released released')
  })

  test('that is being released admits one other tenant, and ends with the last assignment', async () => {
    const id = await node('handed-over')
    const assigned = await assign(store(), platform.acme.id, id)
    const early = await join(enrollment('handed-over', await joinToken(globex, 'handed-over')))
    expect(early.codes).toEqual(['node_owned_by_another_tenant'])
    const released = await release(acme, 'handed-over', platform.acme.id)
    expect(released.body).toMatchObject({ schedulable: false, claims: [{ own: true, state: 'releasing' }] })
    expect((await release(acme, 'handed-over', platform.acme.id)).status).toBe(202)

    const second = await node('handed-over', {}, globex)
    expect((await globex.get(`${NODES}/${second}`)).body['claims']).toEqual([
      { own: false, state: 'releasing' },
      { own: true, state: 'active' },
    ])
    // The first tenant cannot enroll the node again, and a third tenant cannot enroll it at all.
    const back = await join(enrollment('handed-over', await joinToken(acme, 'handed-over')))
    expect(back.codes).toEqual(['node_owned_by_another_tenant'])
    const third = await join(enrollment('handed-over', await joinToken(platform.api(), 'handed-over')))
    expect(third.codes).toEqual(['node_owned_by_another_tenant'])

    const finish = () =>
      finishRelease({ store: store(), clock: realClock }, platform.acme.id as TenantId, 'handed-over')
    expect(await finish()).toBe(false)
    await assigned.gone()
    expect(await finish()).toBe(true)
    expect(await finish()).toBe(false)
    expect(await typesOf(acme, 'handed-over')).toContain('node.claim_released released')
    expect((await acme.get(`${NODES}/${id}`)).codes).toEqual(['node_not_found'])
    expect((await globex.get(`${NODES}/${second}`)).body['claims']).toEqual([{ own: true, state: 'active' }])
  })

  test('that is being released is kept by enrolling again, if no other tenant came first', async () => {
    const id = await node('wavering')
    const assigned = await assign(store(), platform.acme.id, id)
    await release(acme, 'wavering', platform.acme.id)
    await join(enrollment('wavering', await joinToken(acme, 'wavering')))
    expect((await acme.get(`${NODES}/${id}`)).body).toMatchObject({
      schedulable: true,
      claims: [{ own: true, state: 'active' }],
    })
    await assigned.gone()
  })
})

describe('a deployment with a nodeId', () => {
  const post = (api: ApiClient, name: string, nodeId: unknown) =>
    api.post('/api/v1/deployments', { kind: 'Deployment', name, image: platform.image, nodeId })

  test('is accepted on a node of its tenant, even a cordoned one, and on no other', async () => {
    const id = await node('chosen')
    await acme.post(`${NODES}/${id}/cordon`, undefined)
    const made = await post(acme, 'pinned', id)
    expect(made.status).toBe(201)
    expect(Object(made.body['deployment'])['nodeId']).toBe(id)
    const foreign = await node('not-theirs', {}, globex)
    for (const other of [foreign, UNKNOWN, 'chosen', '']) {
      const refused = await post(acme, 'lost', other)
      expect(refused.codes).toEqual(['node_not_a_placement_candidate'])
      expect(refused.status).toBe(422)
      expect(field(refused)).toBe('nodeId')
    }
    expect((await post(acme, 'lost', 7)).codes).toEqual(['field_type_invalid'])
    const unpinned = await acme.put('/api/v1/deployments/pinned', { nodeId: null })
    expect(Object(unpinned.body['deployment'])).not.toHaveProperty('nodeId')
  })

  test('is informed if its tenant has no node at all', async () => {
    const made = await platform.api().post('/api/v1/tenants', { name: 'bare' })
    const api = platform.api(await makeToken(platform.api(), String(made.body['id']), 'tenant-admin'))
    const refused = await post(api, 'lost', UNKNOWN)
    expect([refused.status, ...refused.codes]).toEqual([422, 'node_candidates_unresolvable'])
    expect((await post(api, 'waiting', undefined)).status).toBe(201)
  })

  test('may not newly name a control-plane node, keeps one it named before, and a removed one only by not sending it', async () => {
    const id = await node('platform-owned')
    expect((await post(acme, 'stays', id)).status).toBe(201)
    const patch = (controlPlane: boolean) =>
      platform.api().send('PATCH', `${NODES}/${id}`, { controlPlane }, asTenant(platform.acme.id))
    expect((await patch(true)).status).toBe(200)
    expect((await post(acme, 'comes-late', id)).codes).toEqual(['node_not_a_placement_candidate'])
    expect((await acme.put('/api/v1/deployments/stays', { nodeId: id, replicas: 2 })).status).toBe(200)
    await platform.api().delete(`${NODES}/${id}`, asTenant(platform.acme.id))
    expect((await acme.put('/api/v1/deployments/stays', { nodeId: id })).codes).toEqual([
      'node_not_a_placement_candidate',
    ])
    expect((await acme.put('/api/v1/deployments/stays', { replicas: 3 })).status).toBe(200)
  })

  test('of the platform itself may run on a control-plane node', async () => {
    const id = await node('own-carrier', { token: { controlPlane: true } }, platform.api())
    expect((await post(platform.api(), 'own', id)).status).toBe(201)
  })

  test('created while its node is removed: the second request is rejected', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = await node(`vanishing-${round}`)
      const [created, removed] = await Promise.all([
        post(acme, `race-${round}`, id),
        acme.delete(`${NODES}/${id}`),
      ])
      expect(removed.status).toBe(202)
      expect(['201', 'node_not_a_placement_candidate']).toContain(created.codes[0] ?? String(created.status))
      await acme.delete(`/api/v1/deployments/race-${round}`)
    }
  })
})
