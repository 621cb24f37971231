// Enrollment over HTTP: join tokens, enrollment, one owner for each node name, and which location labels of a machine are
// accepted.

import type { TenantId } from '@holdfast/contract'
import { sweepJoinTokens } from '@holdfast/server/operations/nodes/clean-up-nodes'
import { joinTokens, nodeNames, nodes } from '@holdfast/server/store/records'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock } from '@holdfast/server/system-clock'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { enroll, enrollment, joinToken, makeNode, newKeys } from '@holdfast/testkit/nodes/enroll'
import { eventsOf, typesOf } from '@holdfast/testkit/nodes/read-events'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const NODES = '/api/v1/nodes'

/** Enrollments that are sent at once. */
const ENROLLMENTS = inRun(200, 1_000)
const HALF = ENROLLMENTS / 2

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
const storedNode = (tenant: string, id: string) =>
  store().get(inTenant(tenant as TenantId, nodes, id))?.record
const field = ({ body }: ApiAnswer) => body['field']

/** The number of responses by outcome: a success status, or an error code. */
function countOutcomes(answers: readonly ApiAnswer[]): { [outcome: string]: number } {
  const counts: { [outcome: string]: number } = {}
  for (const { status, codes } of answers) {
    const outcome = codes[0] ?? String(status)
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

describe('a join token', () => {
  test('is returned once with the command, and only a hash of its secret is stored', async () => {
    const issued = await acme.post(`${NODES}/join-tokens`, { nodeName: 'shown-once' })
    expect(issued.status).toBe(201)
    const { token, command, expiresAt } = issued.body
    expect(token).toMatch(/^hfj_[0-9A-HJKMNP-TV-Z]{26}_[\w-]{43}$/)
    expect(command).toBe(
      `holdfast-agent enroll --server ${platform.baseUrl} --token ${token} --name shown-once`,
    )
    // The time of the header is some seconds old on a busy machine.
    const answeredAt = Date.parse(issued.headers.get('date') ?? '')
    const left = Date.parse(String(expiresAt)) - answeredAt
    expect(left).toBeGreaterThan(14 * 60_000)
    expect(left).toBeLessThan(16 * 60_000)
    const [, id = '', ...secret] = String(token).split('_')
    await store().fresh()
    expect(JSON.stringify(store().get(globally(joinTokens, id)))).not.toContain(secret.join('_'))
    expect(platform.logLines.join('')).not.toContain(secret.join('_'))
  })

  test('is not returned again to a retried request', async () => {
    const ask = () =>
      acme.post(`${NODES}/join-tokens`, { nodeName: 'once' }, { 'idempotency-key': 'join-once' })
    const [first, again] = [await ask(), await ask()]
    expect(first.body['token']).toMatch(/^hfj_/)
    expect(again.status).toBe(201)
    expect(again.body).toEqual({ nodeName: 'once', expiresAt: first.body['expiresAt'] })
  })

  test.each<[string, object, string[], string]>([
    ['no name', {}, ['field_type_invalid'], 'nodeName'],
    ['an empty name', { nodeName: '' }, ['field_type_invalid'], 'nodeName'],
    ['a capital', { nodeName: 'Rack-1' }, ['field_type_invalid'], 'nodeName'],
    ['64 characters', { nodeName: 'n'.repeat(64) }, ['field_type_invalid'], 'nodeName'],
    ['a slash', { nodeName: 'a/b' }, ['field_type_invalid'], 'nodeName'],
    [
      'a country in words',
      { nodeName: 'a', residency: { country: 'Germany' } },
      ['field_type_invalid'],
      'residency.country',
    ],
    [
      'a region with a line break',
      { nodeName: 'a', residency: { region: 'e\nu' } },
      ['field_type_invalid'],
      'residency.region',
    ],
    ['an unknown field', { nodeName: 'a', rack: 1 }, ['field_unknown'], 'rack'],
    [
      'the control plane, by a tenant',
      { nodeName: 'a', controlPlane: true },
      ['permission_denied'],
      'controlPlane',
    ],
  ])('is rejected with %s', async (_about, body, codes, at) => {
    const refused = await acme.post(`${NODES}/join-tokens`, body)
    expect(refused.codes).toEqual(codes)
    expect(field(refused)).toBe(at)
  })

  test('is issued by a tenant-admin only', async () => {
    const developer = await makeToken(platform.api(), platform.acme.id, 'developer')
    const refused = await platform.api(developer).post(`${NODES}/join-tokens`, { nodeName: 'a' })
    expect(refused.codes).toEqual(['permission_denied'])
  })

  test('is deleted after it expired, and others are not', async () => {
    const [old = '', fresh = ''] = [await joinToken(acme, 'old'), await joinToken(acme, 'fresh')].map(
      (token) => token.split('_')[1],
    )
    const later = { now: () => realClock.now() + 16 * 60_000 }
    await store().fresh()
    const record = store().get(globally(joinTokens, fresh))?.record
    if (record === undefined) throw new Error('no join token')
    await store().transact((transaction) => {
      const expiresAt = new Date(later.now() + 60_000).toISOString()
      transaction.put(globally(joinTokens, fresh), { ...record, expiresAt })
      return { kind: 'commit', result: undefined }
    })
    await store().fresh()
    await sweepJoinTokens({ store: store(), clock: later })
    await store().fresh()
    expect(store().get(globally(joinTokens, old))).toBeUndefined()
    expect(store().get(globally(joinTokens, fresh))).toBeDefined()
  })
})

describe('an enrollment', () => {
  test('creates a node with a claim, an event and an audit entry, and uses up the token', async () => {
    const token = await joinToken(acme, 'first', { residency: { country: 'DE' } })
    const sent = enrollment('first', token, { labels: { rack: 'a', 'holdfast.io/country': 'DE' } })
    const created = await join(sent)
    expect(created.status).toBe(201)
    expect(created.body).toEqual({ nodeId: expect.any(String), tenant: platform.acme.id, generation: 1 })
    const id = String(created.body['nodeId'])
    const read = await acme.get(`${NODES}/${id}`)
    expect(read.body).toEqual({
      id,
      name: 'first',
      status: 'pending',
      schedulable: true,
      controlPlane: false,
      labels: { rack: 'a', 'holdfast.io/country': 'DE' },
      capacity: sent['capacity'],
      engine: sent['engine'],
      claims: [{ own: true, state: 'active' }],
      requested: { cpuMillis: 0, memoryBytes: 0 },
      since: expect.any(String),
      lastHeardAt: null,
      revision: expect.any(Number),
    })
    expect(read.headers.get('etag')).toBe(`"${read.body['revision']}"`)
    expect(await typesOf(acme, 'first')).toEqual(['node.enrolled enrolled'])
    const audit: { action: string; actor: { token: string; role: string } }[] = Object(
      (await acme.get('/api/v1/audit?limit=500&sort=oldest')).body['items'],
    )
    expect(audit.find(({ action }) => action === 'nodes:enrolled')?.actor).toEqual({
      token: `join_${token.split('_')[1]}`,
      role: 'tenant-admin',
    })
    expect((await join(sent)).codes).toEqual(['join_token_invalid'])
  })

  test('gets one response for an unknown, wrong, used, expired or foreign token and a wrong name', async () => {
    const token = await joinToken(acme, 'guarded')
    const [, id = ''] = token.split('_')
    const expired = await joinToken(acme, 'guarded')
    const used = await joinToken(acme, 'used-up')
    await join(enrollment('used-up', used))
    await expireToken(expired)
    const attempts = [
      enrollment('guarded', 'hfj_nonsense'),
      enrollment('guarded', `hfj_${'0'.repeat(26)}_${'A'.repeat(43)}`),
      enrollment('guarded', `hfj_${id}_${'A'.repeat(43)}`),
      enrollment('guarded', expired),
      enrollment('used-up', used),
      enrollment('another-name', token),
      enrollment('guarded', ''),
    ]
    const answers = await Promise.all(attempts.map(join))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.status).toBe(401)
    expect(answers[0]?.codes).toEqual(['join_token_invalid'])
    expect(answers[0]?.text).not.toContain(id)
    expect((await join(enrollment('guarded', token))).status).toBe(201)
  })

  async function expireToken(token: string): Promise<void> {
    const address = globally(joinTokens, token.split('_')[1] ?? '')
    await store().fresh()
    await store().transact((transaction) => {
      const record = transaction.get(address)
      if (record !== undefined) transaction.put(address, { ...record, expiresAt: new Date().toISOString() })
      return { kind: 'commit', result: undefined }
    })
  }

  test.each<[string, object, string[], string[]]>([
    [
      'a key of 31 bytes',
      { publicKey: Buffer.alloc(31).toString('base64url') },
      ['field_type_invalid'],
      ['publicKey'],
    ],
    ['a key in base64', { encryptionKey: `${'A'.repeat(42)}/` }, ['field_type_invalid'], ['encryptionKey']],
    [
      'a key that decodes, written otherwise',
      { publicKey: `${'A'.repeat(42)}B` },
      ['field_type_invalid'],
      ['publicKey'],
    ],
    ['a key with padding', { publicKey: `${'A'.repeat(43)}=` }, ['field_type_invalid'], ['publicKey']],
    [
      'a label with an escape code',
      { labels: { rack: '\u001b[31m' } },
      ['field_type_invalid'],
      ['labels.rack'],
    ],
    [
      'a label in other letters',
      { labels: { 'r\u0430ck': 'a' } },
      ['field_type_invalid'],
      ['labels["r\u0430ck"]'],
    ],
    [
      'too many labels',
      { labels: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`l${at}`, ''])) },
      ['list_too_long'],
      ['labels'],
    ],
    [
      'negative capacity',
      { capacity: { cpuMillis: -1, memoryBytes: 0.5 } },
      ['field_type_invalid', 'field_type_invalid'],
      ['capacity.memoryBytes'],
    ],
    [
      'an engine without a version',
      { engine: { version: '', apiVersion: '1.41' } },
      ['field_type_invalid'],
      ['engine.version'],
    ],
    ['an unknown field', { tenant: 'acme' }, ['field_unknown'], ['tenant']],
    [
      'no keys at all',
      { publicKey: undefined, encryptionKey: undefined },
      ['field_type_invalid', 'field_type_invalid'],
      ['publicKey', 'encryptionKey'],
    ],
  ])('is rejected with %s, and its token stays valid', async (_about, parts, codes, fields) => {
    const token = await joinToken(acme, 'picky')
    const refused = await join(enrollment('picky', token, { ...parts }))
    expect(refused.status).toBe(422)
    const rejections: { field: string; code: string }[] = Object(refused.body['rejections'])
    expect(rejections.map(({ field: at }) => at)).toEqual(expect.arrayContaining(fields))
    expect(rejections.length).toBeLessThanOrEqual(codes.length)
    expect(refused.codes[0]).toBe(codes[0])
    expect(refused.text).not.toContain(token)
    expect((await join(enrollment('picky', token))).status).toBe(201)
  })

  test('under the same name keeps the id, has the next generation and new keys, and voids the old session', async () => {
    const id = await node('comes-back')
    await acme.post(`${NODES}/${id}/cordon`, undefined)
    const before = storedNode(platform.acme.id, id)
    const keys = newKeys()
    const again = await join(enrollment('comes-back', await joinToken(acme, 'comes-back'), keys))
    expect(again.body).toEqual({ nodeId: id, tenant: platform.acme.id, generation: 2 })
    await store().fresh()
    const after = storedNode(platform.acme.id, id)
    expect(after).toMatchObject({ ...keys, generation: 2, createdAt: before?.createdAt, slot: before?.slot })
    expect(after?.session.epoch).toBeGreaterThan(before?.session.epoch ?? 0)
    expect(after?.schedulable).toBe(false)
    expect(await typesOf(acme, 'comes-back')).toEqual([
      'node.enrolled enrolled',
      'node.cordoned cordoned',
      'node.enrolled enrolled',
    ])
  })

  test('for a tenant that is being removed is rejected, and its names are free afterwards', async () => {
    const created = await platform.api().post('/api/v1/tenants', { name: 'initech' })
    const tenant = String(created.body['id'])
    const api = platform.api(await makeToken(platform.api(), tenant, 'tenant-admin'))
    await node('shared-name', {}, api)
    const unused = await joinToken(api, 'never-joined')
    expect((await join(enrollment('shared-name', await joinToken(acme, 'shared-name')))).codes).toEqual([
      'node_owned_by_another_tenant',
    ])
    await platform.api().delete(`/api/v1/tenants/${tenant}`)
    expect((await join(enrollment('never-joined', unused))).codes).toEqual(['join_token_invalid'])
    await waitUntil(() => store().get(globally(nodeNames, 'shared-name')) === undefined, {
      what: 'the name is free',
    })
    expect((await join(enrollment('shared-name', await joinToken(acme, 'shared-name')))).status).toBe(201)
    expect(store().get(globally(joinTokens, unused.split('_')[1] ?? ''))).toBeUndefined()
  })

  test('beyond the quota is rejected, exactly under any concurrency', async () => {
    const created = await platform.api().post('/api/v1/tenants', { name: 'small' })
    const tenant = String(created.body['id'])
    await platform.api().send('PATCH', `/api/v1/tenants/${tenant}`, { quotas: { nodes: 3 } })
    const api = platform.api(await makeToken(platform.api(), tenant, 'tenant-admin'))
    const names = Array.from({ length: 12 }, (_, at) => `small-${at}`)
    const bodies = await Promise.all(names.map(async (name) => enrollment(name, await joinToken(api, name))))
    const answers = await Promise.all(bodies.map(join))
    expect(countOutcomes(answers)).toEqual({ 201: 3, quota_exceeded: 9 })
    expect(answers.find(({ status }) => status === 409)?.body['field']).toBe('quotas.nodes')
    const [first] = Object((await api.get(NODES)).body['items'])
    expect((await api.delete(`${NODES}/${first.id}`)).status).toBe(202)
    expect(await node('small-again', {}, api)).toMatch(/^node_/)
    const quotas: { kind: string; used: number }[] = Object((await api.get('/api/v1/quotas')).body['items'])
    expect(quotas.find(({ kind }) => kind === 'nodes')?.used).toBe(3)
  })
})

describe(`${ENROLLMENTS} concurrent enrollments`, { timeout: 300_000 }, () => {
  const bodiesFor = (api: ApiClient, name: string, count: number) =>
    Promise.all(Array.from({ length: count }, async () => enrollment(name, await joinToken(api, name))))

  test('with one join token create exactly one node', async () => {
    const replica = await startReplica(platform)
    const token = await joinToken(acme, 'raced')
    const bodies = Array.from({ length: ENROLLMENTS }, () => enrollment('raced', token))
    const answers = await Promise.all(
      bodies.map((body, at) => enroll(at % 2 === 0 ? platform.baseUrl : replica.baseUrl, body)),
    )
    expect(countOutcomes(answers)).toEqual({ 201: 1, join_token_invalid: ENROLLMENTS - 1 })
    await store().fresh()
    const created = store()
      .list(nodes, platform.acme.id as TenantId)
      .filter(({ record }) => record.name === 'raced')
    expect(created.map(({ record }) => record.generation)).toEqual([1])
    await replica.stop()
  })

  test('for one node name by two tenants have one owner', async () => {
    const replica = await startReplica(platform)
    const bodies = (
      await Promise.all([bodiesFor(acme, 'wanted', HALF), bodiesFor(globex, 'wanted', HALF)])
    ).flat()
    const mixed = bodies.map((_, at) => bodies[(at % 2) * HALF + Math.floor(at / 2)])
    const answers = await Promise.all(
      mixed.map((body, at) => enroll(at % 4 < 2 ? platform.baseUrl : replica.baseUrl, body)),
    )
    const outcomes = countOutcomes(answers)
    console.log(`${ENROLLMENTS} enrollments of one name: ${JSON.stringify(outcomes)}`)
    expect(outcomes['node_owned_by_another_tenant']).toBe(HALF)
    const tenants = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body['tenant']))
    expect(tenants.size).toBe(1)
    await store().fresh()
    const claims = store().get(globally(nodeNames, 'wanted'))?.record.claims
    expect(claims).toHaveLength(1)
    expect([...tenants]).toEqual([claims?.[0]?.tenant])
    const records = [platform.acme.id, platform.globex.id].flatMap((tenant) =>
      store()
        .list(nodes, tenant as TenantId)
        .filter(({ record }) => record.name === 'wanted'),
    )
    expect(records).toHaveLength(1)
    const accepted = answers.filter(({ status }) => status === 201)
    expect(records[0]?.record.generation).toBe(accepted.length)
    expect(new Set(accepted.map(({ body }) => body['generation'])).size).toBe(accepted.length)
    await replica.stop()
  })
})

describe('the location label of a machine', () => {
  const country = (value: string) => ({ labels: { 'holdfast.io/country': value, rack: 'r1' } })
  const labelsOf = async (id: string) => (await acme.get(`${NODES}/${id}`)).body['labels']

  test('is accepted only as its join token attests it; another value is reported and ignored', async () => {
    const id = await node('honest', { token: { residency: { country: 'DE' } }, sent: country('DE') })
    expect(await labelsOf(id)).toEqual({ 'holdfast.io/country': 'DE', rack: 'r1' })
    const spoofed = await node('spoofed', { token: { residency: { country: 'DE' } }, sent: country('US') })
    expect(await labelsOf(spoofed)).toEqual({ rack: 'r1' })
    const event = (await eventsOf(acme, 'spoofed')).find(({ type }) => type === 'node.labels_refused')
    expect(event?.data).toEqual({
      refused: [{ label: 'holdfast.io/country', advertised: 'US', attested: 'DE' }],
    })
  })

  test("is rejected without attestation, as is any other label in the platform's domain", async () => {
    const labels = { 'holdfast.io/geo-region': 'eu', 'holdfast.io/tier': 'gold', rack: 'r2' }
    const id = await node('self-asserted', { sent: { labels } })
    expect(await labelsOf(id)).toEqual({ rack: 'r2' })
    expect(await typesOf(acme, 'self-asserted')).toContain('node.labels_refused not_attested')
  })

  test('is attested again after removal: the node has what the new token attests, and nothing else', async () => {
    const id = await node('flipper', { token: { residency: { country: 'DE' } }, sent: country('DE') })
    expect((await acme.delete(`${NODES}/${id}`)).status).toBe(202)
    const again = await node('flipper', { token: { residency: { country: 'DE' } }, sent: country('US') })
    expect(again).not.toBe(id)
    expect(await labelsOf(again)).toEqual({ rack: 'r1' })
    const third = await join(enrollment('flipper', await joinToken(acme, 'flipper'), country('DE')))
    expect(third.body['generation']).toBe(2)
    expect(await labelsOf(again)).toEqual({ rack: 'r1' })
  })
})

test('failed enrollments are rate-limited by address; valid tokens are accepted from the same address', async () => {
  const limited = await ownPlatform({
    settings: { rates: { requestsPerMinute: 1_000_000, burst: 1_000_000, failedJoinsPerMinute: 5 } },
  })
  const api = limited.api(limited.acme.token)
  for (let round = 0; round < 8; round += 1) await makeNode(limited.baseUrl, api, `ok-${round}`)
  const wrong = () => enroll(limited.baseUrl, enrollment('ok-0', `hfj_${'0'.repeat(26)}_${'A'.repeat(43)}`))
  const codes: string[] = []
  for (let round = 0; round < 7; round += 1) codes.push(...(await wrong()).codes)
  expect(codes).toEqual([...Array(5).fill('join_token_invalid'), 'rate_limited', 'rate_limited'])
  const refused = await wrong()
  expect(refused.status).toBe(429)
  expect(field(refused)).toBe('joinToken')
  const seconds = Number(refused.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(12)
  // Valid tokens and other API requests from the rate-limited address still work.
  await makeNode(limited.baseUrl, api, 'ok-after')
  expect((await api.get(NODES)).status).toBe(200)
  await limited.stop()
})
