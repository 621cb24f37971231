// `Idempotency-Key` on POST: a retry gets the first 2xx response byte for byte, and the request is not executed twice.

import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'

let platform: Platform
let other: Replica
let api: ApiClient
beforeAll(async () => {
  platform = await sharedPlatform()
  other = await startReplica(platform)
  api = platform.api(platform.acme.token)
})
afterAll(async () => {
  await other.stop()
  await platform.stop()
})

const bodyOf = (name: string, parts: object = {}) => ({
  kind: 'Deployment',
  name,
  image: platform.image,
  ...parts,
})
const keyed = (key: string) => ({ 'idempotency-key': key })

test('a retry with the same Idempotency-Key gets the first response from every server and stores nothing new', async () => {
  const first = await api.post(COLLECTION, bodyOf('web'), keyed('a'))
  expect(first.status).toBe(201)
  await api.put(`${COLLECTION}/web`, { replicas: 5 })
  const before = await dumpTenants(platform)
  for (const server of [platform.baseUrl, other.baseUrl]) {
    const again = await (server === other.baseUrl ? other.api(platform.acme.token) : api).post(
      COLLECTION,
      bodyOf('web'),
      keyed('a'),
    )
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([201, first.text, '"1"'])
  }
  expect(await dumpTenants(platform)).toEqual(before)
})

test('a retry may differ in key order and white space', async () => {
  const { kind, name, image } = bodyOf('spaced')
  const first = await api.post(COLLECTION, { kind, name, image }, keyed('spaced'))
  const again = await api.post(COLLECTION, JSON.stringify({ image, name, kind }, null, 2), keyed('spaced'))
  expect(again.status).toBe(201)
  expect(again.text).toBe(first.text)
})

test('another body with the same Idempotency-Key is rejected, whatever else is wrong with it', async () => {
  await api.post(COLLECTION, bodyOf('taken'), keyed('b'))
  const before = await dumpTenants(platform)
  expect((await api.post(COLLECTION, bodyOf('other'), keyed('b'))).codes).toEqual(['idempotency_key_reused'])
  expect((await api.post(COLLECTION, bodyOf('NO'), keyed('b'))).codes).toEqual(['idempotency_key_reused'])
  expect(await dumpTenants(platform)).toEqual(before)
})

test('an Idempotency-Key belongs to its tenant', async () => {
  const globex = platform.api(platform.globex.token)
  const mine = await api.post(COLLECTION, bodyOf('mine'), keyed('shared'))
  const theirs = await globex.post(COLLECTION, bodyOf('mine', { replicas: 2 }), keyed('shared'))
  expect([mine.status, theirs.status]).toEqual([201, 201])
})

test('a rejected request does not consume its Idempotency-Key', async () => {
  const before = await dumpTenants(platform)
  expect((await api.post(COLLECTION, bodyOf('mended', { replicas: -1 }), keyed('c'))).status).toBe(422)
  expect((await api.post(COLLECTION, bodyOf('web'), keyed('c'))).codes).toEqual(['deployment_exists'])
  expect(await dumpTenants(platform)).toEqual(before)
  expect((await api.post(COLLECTION, bodyOf('mended'), keyed('c'))).status).toBe(201)
})

describe('concurrent requests with one Idempotency-Key', () => {
  test.each([
    ['one server', 1],
    ['two servers', 2],
  ])('create one deployment and get one response, 50 times at once on %s', async (_about, servers) => {
    const name = `crowd-${servers}`
    const apis = [api, other.api(platform.acme.token)]
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (apis[index % servers] ?? api).post(COLLECTION, bodyOf(name), keyed(name)),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const keys = Object.keys(await dumpTenants(platform))
    expect(keys.filter((key) => key.includes(`/dep/${name}/`))).toHaveLength(1)
    expect(keys.filter((key) => key.includes(`/arc/${name}/`))).toHaveLength(1)
  })

  test('with two different bodies: one is stored, the other rejected', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        api.post(COLLECTION, bodyOf(index % 2 === 0 ? 'even' : 'odd'), keyed('contended')),
      ),
    )
    const names = answers.map(({ status, body }) =>
      status === 201 ? Object(body['deployment']).name : undefined,
    )
    const winner = names.find((name) => name !== undefined)
    expect(names.filter((name) => name === winner)).toHaveLength(10)
    expect(answers.filter(({ codes }) => codes[0] === 'idempotency_key_reused')).toHaveLength(10)
    const { body } = await api.get(COLLECTION)
    const stored = Object.values(Object(body['items'])).map((item) => Object(item).name)
    expect(stored.filter((name) => name === 'even' || name === 'odd')).toEqual([winner])
  })

  test('for the last free slot of a quota: the retry gets the first response', async () => {
    const { body } = await platform.api().post('/api/v1/tenants', { name: 'single' })
    const tenant = { 'x-tenant-id': String(body['id']), ...keyed('only') }
    await platform.api().send('PATCH', `/api/v1/tenants/${body['id']}`, { quotas: { deployments: 1 } })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => platform.api().post(COLLECTION, bodyOf('only'), tenant)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  })
})

test('a token is returned once, and a retry gets the record without the secret', async () => {
  const path = `/api/v1/tenants/${platform.acme.id}/tokens`
  const sent = { name: 'ci', role: 'developer', expiresAt: '2099-01-01T00:00:00Z' }
  const first = await api.post(path, sent, keyed('token'))
  const { token, ...record } = first.body
  expect(token).toMatch(/^hf_/)
  const again = await api.post(path, sent, keyed('token'))
  expect(again.status).toBe(201)
  expect(again.body).toEqual(record)
  const { text } = await api.get(path)
  expect(text.split('"ci"')).toHaveLength(2)
  const secretHalf = String(token).split('_').slice(2).join('_')
  expect(JSON.stringify(await dumpTenants(platform))).not.toContain(secretHalf)
})

test('a tenant is created once for one Idempotency-Key', async () => {
  const make = () => platform.api().post('/api/v1/tenants', { name: 'twice' }, keyed('tenant'))
  const answers = await Promise.all([make(), make(), make()])
  answers.push(await make())
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  const { text } = await platform.api().get('/api/v1/tenants?limit=500')
  expect(text.split('"twice"')).toHaveLength(2)
})
