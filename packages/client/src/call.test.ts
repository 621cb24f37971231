// Retries, headers and results of API calls.

import { describe, expect, test } from 'vitest'
import { createClient } from './client.ts'
import {
  header,
  jsonResponse,
  networkError,
  type ScriptedResponse,
  scriptRuntime,
} from './scripted-runtime.fixture.ts'

const REJECTION = { code: 'name_required', field: 'name', received: '', expected: 'x', why: 'y', doc: '/d' }
const REJECTION_BODY = {
  ...REJECTION,
  rejections: [REJECTION, { ...REJECTION, code: 'image_required', field: 'image' }],
}
const QUOTAS = { items: [] }
const TENANT = {
  id: '00000000-0000-4000-8000-000000000000',
  name: 'a',
  platform: false,
  quotas: {},
  revision: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  deleting: false,
}

function clientOn(...responses: readonly ScriptedResponse[]) {
  const scripted = scriptRuntime(...responses)
  const client = createClient({ baseUrl: 'http://h/', token: 't', runtime: scripted.runtime })
  return { client, ...scripted }
}

describe('a read', () => {
  test('retries a read after a network error and while the server is unavailable', async () => {
    const { client, requests, pauses } = clientOn(
      networkError('ECONNRESET'),
      jsonResponse(503, REJECTION_BODY),
      jsonResponse(200, QUOTAS),
    )
    expect(await client.tenants.quotas()).toEqual({ ok: true, value: QUOTAS })
    expect(requests).toHaveLength(3)
    expect(pauses).toEqual([200, 400])
  })

  test('waits for the time in Retry-After', async () => {
    const { client, pauses } = clientOn(
      jsonResponse(429, REJECTION_BODY, { 'retry-after': '7' }),
      jsonResponse(200, QUOTAS),
    )
    expect((await client.tenants.quotas()).ok).toBe(true)
    expect(pauses).toEqual([7000])
  })

  test('does not retry a permanent failure such as an expired certificate', async () => {
    const { client, requests } = clientOn(networkError('CERT_HAS_EXPIRED'))
    expect(await client.tenants.quotas()).toMatchObject({
      failure: { kind: 'unreachable', reason: "http://h: the server's certificate has expired" },
    })
    expect(requests).toHaveLength(1)
  })

  test('fails after five attempts with the reason', async () => {
    const { client, requests } = clientOn(...Array.from({ length: 9 }, () => networkError('ECONNREFUSED')))
    expect(await client.tenants.quotas()).toEqual({
      ok: false,
      failure: { kind: 'unreachable', reason: 'http://h: connection refused' },
    })
    expect(requests).toHaveLength(5)
  })
})

describe('a write', () => {
  test('sends the same idempotency key with every retry of a POST, and a new key for a new call', async () => {
    const { client, requests } = clientOn(
      networkError('ECONNRESET'),
      jsonResponse(201, TENANT),
      jsonResponse(201, TENANT),
    )
    await client.tenants.create({ name: 'a' })
    await client.tenants.create({ name: 'a' })
    expect(requests.map((each) => header(each, 'idempotency-key'))).toEqual(['key-1', 'key-1', 'key-2'])
  })

  test('does not retry a PUT after a network error or 503, because it may have been applied', async () => {
    for (const lost of [networkError('ECONNRESET'), jsonResponse(503, REJECTION_BODY)]) {
      const { client, requests } = clientOn(lost)
      expect((await client.deployments.update('web', {}, { ifMatch: '3' })).ok).toBe(false)
      expect(requests).toHaveLength(1)
      expect(requests.map((each) => header(each, 'if-match'))).toEqual(['"3"'])
    }
  })

  test('retries a DELETE after 429, which the server did not process', async () => {
    const { client, requests } = clientOn(jsonResponse(429, REJECTION_BODY), jsonResponse(202, TENANT))
    expect((await client.tenants.remove('a')).ok).toBe(true)
    expect(requests).toHaveLength(2)
  })

  test('retries a dry run like a read', async () => {
    const { client, requests } = clientOn(networkError('ECONNRESET'), jsonResponse(422, REJECTION_BODY))
    await client.dryRuns.update('web', {})
    expect(requests.map(({ url }) => url)).toEqual(
      Array(2).fill('http://h/api/v1/deployments/web?dryRun=true'),
    )
  })
})

describe('a response', () => {
  test('with a rejection is a failure value with all its entries', async () => {
    const { client } = clientOn(jsonResponse(422, REJECTION_BODY))
    expect(await client.deployments.create({})).toEqual({
      ok: false,
      failure: { kind: 'rejected', status: 422, rejections: REJECTION_BODY.rejections },
    })
  })

  test('may contain unknown fields of a newer server', async () => {
    const { client } = clientOn(jsonResponse(200, { ...QUOTAS, more: 1 }, { etag: '"7"' }))
    const response = await client.tenants.quotas()
    expect(JSON.parse(JSON.stringify(response))).toEqual({ ok: true, value: QUOTAS, etag: '7' })
  })

  test.each([
    [200, '<html>sign in</html>', 'text/html', {}, 'not from a Holdfast server'],
    [404, '<html>nginx</html>', 'text/html', {}, 'text/html'],
    [500, '{"error":"internal"}', 'application/json', { 'x-request-id': 'r1' }, 'the request id is r1'],
  ])(
    'with status %i that is not from this API is an unexpected failure',
    async (status, body, type, headers, reason) => {
      const { client } = clientOn(
        new Response(body, { status, headers: { 'content-type': type, ...headers } }),
      )
      expect(await client.tenants.quotas()).toMatchObject({
        failure: { kind: 'unexpected', status, reason: expect.stringContaining(reason) },
      })
    },
  )
})

describe('a call', () => {
  test('fails at its deadline if the server hangs', async () => {
    const hang = (_url: string, init: RequestInit): Promise<Response> =>
      new Promise((_, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('aborted')))
      })
    const client = createClient({ baseUrl: 'http://h', deadlineMs: 30, runtime: { fetch: hang } })
    expect(await client.tenants.quotas()).toEqual({
      ok: false,
      failure: { kind: 'unreachable', reason: 'http://h: no response within 0.03 s' },
    })
    const controller = new AbortController()
    const pending = client.tenants.quotas({ signal: controller.signal })
    controller.abort()
    expect(await pending).toEqual({ ok: false, failure: { kind: 'interrupted' } })
  })

  test('without its own signal is aborted by the signal of the client', async () => {
    const controller = new AbortController()
    const hang = (_url: string, init: RequestInit): Promise<Response> =>
      new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    const client = createClient({ baseUrl: 'http://h', runtime: { fetch: hang }, signal: controller.signal })
    const interrupted = { ok: false, failure: { kind: 'interrupted' } }
    const requests = [client.tenants.quotas(), client.tenants.create({ name: 'a' }), client.nodes.drain('n')]
    const follow = [client.followEvents({ after: '0-0' }).next(), client.logs('web', {}).next()]
    controller.abort()
    expect(await Promise.all(requests)).toEqual([interrupted, interrupted, interrupted])
    expect(await Promise.all(follow)).toEqual(Array(2).fill({ done: true, value: undefined }))
  })

  test('encodes names so that they cannot address another resource', async () => {
    const { client, requests } = clientOn(
      ...Array.from({ length: 4 }, () => jsonResponse(404, REJECTION_BODY)),
    )
    for (const name of ['..', '.', '', 'a/b?c#d']) await client.deployments.read(name)
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      ...Array(3).fill('/api/v1/deployments/~'),
      '/api/v1/deployments/a%2Fb%3Fc%23d',
    ])
  })

  test('is reported to the observer without token, query or body', async () => {
    const seen: unknown[] = []
    const { runtime } = scriptRuntime(
      jsonResponse(200, { items: [], nextCursor: null }, { 'x-request-id': 'r9' }),
    )
    const client = createClient({
      baseUrl: 'http://h',
      token: 'hf_secret',
      runtime,
      observe: (exchange) => seen.push(exchange),
    })
    await client.events({ subject: 'web' })
    expect(seen).toEqual([{ method: 'GET', path: '/api/v1/events', status: 200, requestId: 'r9', tookMs: 0 }])
  })
})
