// When a request is sent again, what goes with it, and what a call comes to.

import { describe, expect, test } from 'vitest'
import { createClient } from './client.ts'
import { header, jsonAnswer, type Scripted, scriptWorld, silence } from './scripted-world.fixture.ts'

const REJECTION = { code: 'name_required', field: 'name', received: '', expected: 'x', why: 'y', doc: '/d' }
const REFUSAL = {
  ...REJECTION,
  rejections: [REJECTION, { ...REJECTION, code: 'image_required', field: 'image' }],
}
const QUOTAS = { items: [] }
const TENANT = {
  ...{ id: '00000000-0000-4000-8000-000000000000', name: 'a', platform: false, quotas: {}, revision: 1 },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', deleting: false },
}

function clientOn(...answers: readonly Scripted[]) {
  const scripted = scriptWorld(...answers)
  const client = createClient({ baseUrl: 'http://h/', token: 't', world: scripted.world })
  return { client, ...scripted }
}

describe('a read', () => {
  test('is sent again after silence and while the server is away', async () => {
    const { client, asked, pauses } = clientOn(
      silence('ECONNRESET'),
      jsonAnswer(503, REFUSAL),
      jsonAnswer(200, QUOTAS),
    )
    expect(await client.tenants.quotas()).toEqual({ ok: true, value: QUOTAS })
    expect(asked).toHaveLength(3)
    expect(pauses).toEqual([200, 400])
  })

  test('waits as long as the server asks', async () => {
    const { client, pauses } = clientOn(
      jsonAnswer(429, REFUSAL, { 'retry-after': '7' }),
      jsonAnswer(200, QUOTAS),
    )
    expect((await client.tenants.quotas()).ok).toBe(true)
    expect(pauses).toEqual([7000])
  })

  test('is not sent again where it would end the same way', async () => {
    const { client, asked } = clientOn(silence('CERT_HAS_EXPIRED'))
    expect(await client.tenants.quotas()).toMatchObject({
      failure: { kind: 'unreachable', reason: 'http://h: the certificate of the server has expired' },
    })
    expect(asked).toHaveLength(1)
  })

  test('ends after five attempts with the reason', async () => {
    const { client, asked } = clientOn(...Array.from({ length: 9 }, () => silence('ECONNREFUSED')))
    expect(await client.tenants.quotas()).toEqual({
      ok: false,
      failure: { kind: 'unreachable', reason: 'http://h: nothing listens there' },
    })
    expect(asked).toHaveLength(5)
  })
})

describe('a write', () => {
  test('by POST keeps the key of its intent over its attempts, and another intent has another', async () => {
    const { client, asked } = clientOn(
      silence('ECONNRESET'),
      jsonAnswer(201, TENANT),
      jsonAnswer(201, TENANT),
    )
    await client.tenants.create({ name: 'a' })
    await client.tenants.create({ name: 'a' })
    expect(asked.map((each) => header(each, 'idempotency-key'))).toEqual(['key-1', 'key-1', 'key-2'])
  })

  test('by PUT is not sent again after silence or 503, since it may have been done', async () => {
    for (const lost of [silence('ECONNRESET'), jsonAnswer(503, REFUSAL)]) {
      const { client, asked } = clientOn(lost)
      expect((await client.deployments.update('web', {}, { ifMatch: '3' })).ok).toBe(false)
      expect(asked).toHaveLength(1)
      expect(asked.map((each) => header(each, 'if-match'))).toEqual(['"3"'])
    }
  })

  test('by DELETE is sent again when the server did not look at it', async () => {
    const { client, asked } = clientOn(jsonAnswer(429, REFUSAL), jsonAnswer(202, TENANT))
    expect((await client.tenants.remove('a')).ok).toBe(true)
    expect(asked).toHaveLength(2)
  })

  test('that is only tried out is repeated like a read', async () => {
    const { client, asked } = clientOn(silence('ECONNRESET'), jsonAnswer(422, REFUSAL))
    await client.deployments.tryUpdate('web', {})
    expect(asked.map(({ url }) => url)).toEqual(Array(2).fill('http://h/api/v1/deployments/web?dryRun=true'))
  })
})

describe('an answer', () => {
  test('of refusal is a value with all its entries', async () => {
    const { client } = clientOn(jsonAnswer(422, REFUSAL))
    expect(await client.deployments.create({})).toEqual({
      ok: false,
      failure: { kind: 'rejected', status: 422, rejections: REFUSAL.rejections },
    })
  })

  test('may hold fields of a newer server', async () => {
    const { client } = clientOn(jsonAnswer(200, { ...QUOTAS, more: 1 }, { etag: '"7"' }))
    expect(await client.tenants.quotas()).toEqual({ ok: true, value: QUOTAS, etag: '7' })
  })

  test.each([
    [200, '<html>sign in</html>', 'text/html', {}, 'no Holdfast server'],
    [404, '<html>nginx</html>', 'text/html', {}, 'text/html'],
    [500, '{"error":"internal"}', 'application/json', { 'x-request-id': 'r1' }, 'its request id is r1'],
  ])('%i that is none of ours is told as such', async (status, body, type, headers, told) => {
    const { client } = clientOn(new Response(body, { status, headers: { 'content-type': type, ...headers } }))
    expect(await client.tenants.quotas()).toMatchObject({
      failure: { kind: 'unexpected', status, reason: expect.stringContaining(told) },
    })
  })
})

describe('a call', () => {
  test('ends at its deadline, whatever the server does', async () => {
    const hang = (_url: string, init: RequestInit): Promise<Response> =>
      new Promise((_, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('aborted')))
      })
    const client = createClient({ baseUrl: 'http://h', deadlineMs: 30, world: { fetch: hang } })
    expect(await client.tenants.quotas()).toEqual({
      ok: false,
      failure: { kind: 'unreachable', reason: 'http://h: no answer within 0.03 s' },
    })
    const given = new AbortController()
    const asked = client.tenants.quotas({ signal: given.signal })
    given.abort()
    expect(await asked).toEqual({ ok: false, failure: { kind: 'interrupted' } })
  })

  test('without a signal of its own ends by that of the client', async () => {
    const given = new AbortController()
    const hang = (_url: string, init: RequestInit): Promise<Response> =>
      new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    const client = createClient({ baseUrl: 'http://h', world: { fetch: hang }, signal: given.signal })
    const interrupted = { ok: false, failure: { kind: 'interrupted' } }
    const asked = [client.tenants.quotas(), client.tenants.create({ name: 'a' }), client.nodes.drain('n')]
    const follow = [client.followEvents({ after: '0-0' }).next(), client.logs('web', {}).next()]
    given.abort()
    expect(await Promise.all(asked)).toEqual([interrupted, interrupted, interrupted])
    expect(await Promise.all(follow)).toEqual(Array(2).fill({ done: true, value: undefined }))
  })

  test('names no other thing than it was given', async () => {
    const { client, asked } = clientOn(...Array.from({ length: 4 }, () => jsonAnswer(404, REFUSAL)))
    for (const name of ['..', '.', '', 'a/b?c#d']) await client.deployments.read(name)
    expect(asked.map(({ url }) => new URL(url).pathname)).toEqual([
      ...Array(3).fill('/api/v1/deployments/~'),
      '/api/v1/deployments/a%2Fb%3Fc%23d',
    ])
  })

  test('is shown without token, query or body', async () => {
    const seen: unknown[] = []
    const { world } = scriptWorld(jsonAnswer(200, { items: [], nextCursor: null }, { 'x-request-id': 'r9' }))
    const client = createClient({
      ...{ baseUrl: 'http://h', token: 'hf_secret', world },
      observe: (exchange) => seen.push(exchange),
    })
    await client.events({ subject: 'web' })
    expect(seen).toEqual([{ method: 'GET', path: '/api/v1/events', status: 200, requestId: 'r9', tookMs: 0 }])
  })
})
