// When a request is sent again, what goes with it, and what a call comes to.

import { describe, expect, test } from 'vitest'
import { createClient } from './client.ts'
import {
  header,
  jsonAnswer,
  networkError,
  type ScriptedResponse,
  scriptRuntime,
} from './scripted-runtime.fixture.ts'

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

function clientOn(...answers: readonly ScriptedResponse[]) {
  const scripted = scriptRuntime(...answers)
  const client = createClient({ baseUrl: 'http://h/', token: 't', runtime: scripted.runtime })
  return { client, ...scripted }
}

describe('a read', () => {
  test('retries a read after a network error and while the server is unavailable', async () => {
    const { client, requests, pauses } = clientOn(
      networkError('ECONNRESET'),
      jsonAnswer(503, REFUSAL),
      jsonAnswer(200, QUOTAS),
    )
    expect(await client.tenants.quotas()).toEqual({ ok: true, value: QUOTAS })
    expect(requests).toHaveLength(3)
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
    const { client, requests } = clientOn(networkError('CERT_HAS_EXPIRED'))
    expect(await client.tenants.quotas()).toMatchObject({
      failure: { kind: 'unreachable', reason: 'http://h: the certificate of the server has expired' },
    })
    expect(requests).toHaveLength(1)
  })

  test('ends after five attempts with the reason', async () => {
    const { client, requests } = clientOn(...Array.from({ length: 9 }, () => networkError('ECONNREFUSED')))
    expect(await client.tenants.quotas()).toEqual({
      ok: false,
      failure: { kind: 'unreachable', reason: 'http://h: nothing listens there' },
    })
    expect(requests).toHaveLength(5)
  })
})

describe('a write', () => {
  test('by POST keeps the key of its intent over its attempts, and another intent has another', async () => {
    const { client, requests } = clientOn(
      networkError('ECONNRESET'),
      jsonAnswer(201, TENANT),
      jsonAnswer(201, TENANT),
    )
    await client.tenants.create({ name: 'a' })
    await client.tenants.create({ name: 'a' })
    expect(requests.map((each) => header(each, 'idempotency-key'))).toEqual(['key-1', 'key-1', 'key-2'])
  })

  test('does not retry a PUT after a network error or 503, because it may have been applied', async () => {
    for (const lost of [networkError('ECONNRESET'), jsonAnswer(503, REFUSAL)]) {
      const { client, requests } = clientOn(lost)
      expect((await client.deployments.update('web', {}, { ifMatch: '3' })).ok).toBe(false)
      expect(requests).toHaveLength(1)
      expect(requests.map((each) => header(each, 'if-match'))).toEqual(['"3"'])
    }
  })

  test('by DELETE is sent again when the server did not look at it', async () => {
    const { client, requests } = clientOn(jsonAnswer(429, REFUSAL), jsonAnswer(202, TENANT))
    expect((await client.tenants.remove('a')).ok).toBe(true)
    expect(requests).toHaveLength(2)
  })

  test('that is only outcome out is repeated like a read', async () => {
    const { client, requests } = clientOn(networkError('ECONNRESET'), jsonAnswer(422, REFUSAL))
    await client.deployments.dryRunUpdate('web', {})
    expect(requests.map(({ url }) => url)).toEqual(
      Array(2).fill('http://h/api/v1/deployments/web?dryRun=true'),
    )
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
    const client = createClient({ baseUrl: 'http://h', deadlineMs: 30, runtime: { fetch: hang } })
    expect(await client.tenants.quotas()).toEqual({
      ok: false,
      failure: { kind: 'unreachable', reason: 'http://h: no answer within 0.03 s' },
    })
    const given = new AbortController()
    const requests = client.tenants.quotas({ signal: given.signal })
    given.abort()
    expect(await requests).toEqual({ ok: false, failure: { kind: 'interrupted' } })
  })

  test('without a signal of its own ends by that of the client', async () => {
    const given = new AbortController()
    const hang = (_url: string, init: RequestInit): Promise<Response> =>
      new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    const client = createClient({ baseUrl: 'http://h', runtime: { fetch: hang }, signal: given.signal })
    const interrupted = { ok: false, failure: { kind: 'interrupted' } }
    const requests = [client.tenants.quotas(), client.tenants.create({ name: 'a' }), client.nodes.drain('n')]
    const follow = [client.followEvents({ after: '0-0' }).next(), client.logs('web', {}).next()]
    given.abort()
    expect(await Promise.all(requests)).toEqual([interrupted, interrupted, interrupted])
    expect(await Promise.all(follow)).toEqual(Array(2).fill({ done: true, value: undefined }))
  })

  test('names no other thing than it was given', async () => {
    const { client, requests } = clientOn(...Array.from({ length: 4 }, () => jsonAnswer(404, REFUSAL)))
    for (const name of ['..', '.', '', 'a/b?c#d']) await client.deployments.read(name)
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      ...Array(3).fill('/api/v1/deployments/~'),
      '/api/v1/deployments/a%2Fb%3Fc%23d',
    ])
  })

  test('is shown without token, query or body', async () => {
    const seen: unknown[] = []
    const { runtime } = scriptRuntime(
      jsonAnswer(200, { items: [], nextCursor: null }, { 'x-request-id': 'r9' }),
    )
    const client = createClient({
      ...{ baseUrl: 'http://h', token: 'hf_secret', runtime },
      observe: (exchange) => seen.push(exchange),
    })
    await client.events({ subject: 'web' })
    expect(seen).toEqual([{ method: 'GET', path: '/api/v1/events', status: 200, requestId: 'r9', tookMs: 0 }])
  })
})
