// Browsers sign in with a token and then send a cookie, which is valid only for pages of the same origin.

import { type ApiAnswer, type ApiClient, createApiClient } from '@holdfast/testkit/platform/api-client'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const SIGN_IN = '/api/v1/sign-in'
const ME = '/api/v1/me'
const BROWSER = { 'sec-fetch-site': 'same-origin' }

let platform: Platform
let other: Replica
let open: ApiClient
beforeAll(async () => {
  platform = await ownPlatform({
    settings: { rates: { requestsPerMinute: 1_000_000, burst: 1_000_000, failedSignInsPerMinute: 5 } },
  })
  other = await startReplica(platform)
  open = createApiClient(platform.baseUrl, undefined)
})
afterAll(async () => {
  await other.stop()
  await platform.stop()
})

const signIn = (token: string): Promise<ApiAnswer> => open.post(SIGN_IN, { token }, BROWSER)
const newToken = (role = 'developer') => makeToken(platform.api(), platform.acme.id, role)

async function cookieOf(token: string): Promise<{ cookie: string }> {
  const answer = await signIn(token)
  expect(answer.status).toBe(201)
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return { cookie }
}

test('a page signs in and reads and writes with the cookie as the token could', async () => {
  const token = await newToken()
  const answer = await signIn(token)
  expect(answer.body).toMatchObject({ tenant: { name: 'acme' }, token: { role: 'developer' } })
  const answeredAt = Date.parse(answer.headers.get('date') ?? '')
  expect(Date.parse(String(answer.body['expiresAt'])) - answeredAt).toBeGreaterThan(11 * 3_600_000)
  const set = answer.headers.get('set-cookie') ?? ''
  expect(set).toMatch(
    /^__Host-holdfast=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  )
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const cookie = { cookie: set.split(';')[0] ?? '', ...BROWSER }
  expect(answer.text).not.toContain(cookie.cookie.split('=')[1])
  const { server: _version, ...me } = (await open.get(ME, cookie)).body
  expect(answer.body).toMatchObject(me)
  // Another server replica knows the cookie at once.
  expect((await createApiClient(other.baseUrl, undefined).get(ME, cookie)).status).toBe(200)
  const body = { kind: 'Deployment', name: 'from-browser', image: platform.image, replicas: 0 }
  expect((await open.post('/api/v1/deployments', body, cookie)).status).toBe(201)
  expect((await open.post(`/api/v1/tenants/${platform.acme.id}/tokens`, {}, cookie)).codes).toEqual([
    'permission_denied',
  ])
  expect((await open.get(ME, { ...cookie, 'x-tenant-id': platform.globex.id })).codes).toEqual([
    'permission_denied',
  ])
  expect(platform.logLines.join('\n')).not.toContain(cookie.cookie.split('=')[1])
})

test.each(['same-site', 'cross-site', 'none', 'SAME-ORIGIN', undefined])(
  'a request with Sec-Fetch-Site %s neither signs in nor uses the cookie',
  async (site) => {
    const token = await newToken()
    const cookie = await cookieOf(token)
    const headers = site === undefined ? {} : { 'sec-fetch-site': site }
    expect((await open.post(SIGN_IN, { token }, headers)).codes).toEqual(['header_invalid'])
    expect((await open.get(ME, { ...cookie, ...headers })).codes).toEqual(['unauthenticated'])
    expect((await open.delete('/api/v1/deployments/x', { ...cookie, ...headers })).codes).toEqual([
      'unauthenticated',
    ])
  },
)

test('the cookie is ignored beside an Authorization header', async () => {
  const cookie = { ...(await cookieOf(await newToken('viewer'))), ...BROWSER }
  const own = await platform.api(platform.acme.token).get(ME, cookie)
  expect(own.body).toMatchObject({ token: { role: 'tenant-admin' } })
  expect((await open.get(ME, { ...cookie, authorization: 'Bearer hf_none' })).codes).toEqual([
    'unauthenticated',
  ])
})

test('signing out ends the cookie at once, also for writes, on every server', async () => {
  const cookie = { ...(await cookieOf(await newToken())), ...BROWSER }
  const out = await open.delete(SIGN_IN, cookie)
  expect(out.status).toBe(200)
  expect(out.headers.get('set-cookie')).toMatch(/^__Host-holdfast=; .*Max-Age=0$/)
  for (const api of [open, createApiClient(other.baseUrl, undefined)]) {
    expect((await api.get(ME, cookie)).codes).toEqual(['unauthenticated'])
    expect((await api.delete('/api/v1/deployments/x', cookie)).codes).toEqual(['unauthenticated'])
  }
  const audit = (await platform.api(platform.acme.token).get('/api/v1/audit?limit=500')).text
  expect(audit).toContain('"sign-ins:open"')
  expect(audit).toContain('"sign-ins:close"')
})

test('revoking the token ends its cookies', async () => {
  const token = await newToken()
  const cookie = { ...(await cookieOf(token)), ...BROWSER }
  const { body } = await open.get(ME, cookie)
  const id = Object(body['token']).id
  const tokens = `/api/v1/tenants/${platform.acme.id}/tokens`
  expect((await platform.api(platform.acme.token).delete(`${tokens}/${id}`)).status).toBe(202)
  expect((await open.get(ME, cookie)).codes).toEqual(['unauthenticated'])
})

test('after five failures of an address within a minute further ones wait, and a valid token is accepted', async () => {
  const wrong = `hf_${'0'.repeat(26)}_${'A'.repeat(43)}`
  for (let failed = 0; failed < 5; failed += 1) {
    const answer = await signIn(wrong)
    expect([answer.status, answer.codes]).toEqual([401, ['unauthenticated']])
    expect(answer.text).not.toContain(wrong)
  }
  const limited = await signIn(wrong)
  expect([limited.status, limited.codes]).toEqual([429, ['rate_limited']])
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await signIn(platform.acme.token)).status).toBe(201)
})

test('no cookie is accepted and no sign-in is served while the dashboard is switched off', async () => {
  const plain = await ownPlatform({ settings: { ui: { enabled: false } } })
  const api = createApiClient(plain.baseUrl, undefined)
  expect((await api.post(SIGN_IN, { token: plain.acme.token }, BROWSER)).status).toBe(401)
  expect((await plain.api(plain.acme.token).delete(SIGN_IN)).codes).toEqual(['not_found'])
  await plain.stop()
})
