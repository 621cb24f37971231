// The server's log has every audit entry in full, also those that a busy tenant has pushed out of its trail, and the
// rejected writes, which are nowhere else. No secret value is in it.

import { applyRetention } from '@holdfast/server/loops/retention'
import { realClock as clock } from '@holdfast/server/system-clock'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const DEPLOYMENTS = '/api/v1/deployments'
const VALUE = 'Correct-Horse-Battery-Staple-91'
const KEPT = 5
const WRITES = 40

let platform: Platform
beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.stop())

interface Line {
  readonly id?: string
  readonly outcome: 'stored' | 'rejected'
  readonly tenant: string
  readonly action: string
  readonly codes?: readonly string[]
  readonly target?: object
  readonly subject?: { readonly name: string }
}

const streamed = (): Line[] =>
  platform.logLines
    .map((line): { stream?: string; audit: Line } => JSON.parse(line))
    .filter(({ stream }) => stream === 'audit')
    .map(({ audit }) => audit)

test('entries that one busy tenant has pushed out of the trail stay in the stream, and no secret is in it', async () => {
  const { acme, image, server } = platform
  const api = platform.api(acme.token)
  const secret = await api.put('/api/v1/secrets/resources/db', { values: { password: VALUE } })
  expect(secret.status, secret.text).toBe(200)
  const consumer = {
    ...{ kind: 'Deployment', name: 'orders', image },
    secrets: [{ name: 'DB', vault_path: 'deployments/orders', values: { password: VALUE } }],
  }
  const created = await api.post(DEPLOYMENTS, consumer)
  expect(created.status, created.text).toBe(201)
  const token = await makeToken(platform.api(), acme.id, 'viewer')
  for (let at = 0; at < WRITES; at += 1)
    expect((await api.post(DEPLOYMENTS, { kind: 'Deployment', name: `noise-${at}`, image })).status).toBe(201)
  const before = await api.get('/api/v1/audit?limit=500')
  const days = 30
  const retention = { events: { days, max: 1e4, bytes: 1e8 }, audit: { days, max: KEPT } }
  await applyRetention({ store: server.store, clock, retention })
  const after = await api.get('/api/v1/audit?limit=500')
  expect(after.body['items']).toHaveLength(KEPT)
  const listed: Line[] = Object(before.body['items'])
  expect(listed.length).toBeGreaterThan(WRITES)
  const stored = streamed().filter(({ outcome, tenant }) => outcome === 'stored' && tenant === acme.id)
  const byId = new Map(stored.map(({ outcome: _outcome, ...entry }) => [entry.id, entry]))
  for (const entry of listed) expect(byId.get(entry.id)).toEqual(entry)
  expect(byId.size).toBe(stored.length)
  const everything = platform.logLines.join('\n')
  expect(everything).toContain('resources/db')
  for (const text of [VALUE, Buffer.from(VALUE).toString('base64'), token.split('_').slice(2).join('_')])
    expect(everything).not.toContain(text)
})

test('rejected writes are in the stream with caller, action, target and codes, and reads are not', async () => {
  const { acme, globex } = platform
  const viewer = platform.api(await makeToken(platform.api(), acme.id, 'viewer'))
  const begun = streamed().length
  expect((await viewer.delete(`${DEPLOYMENTS}/orders`)).codes).toEqual(['permission_denied'])
  const other = platform.api(globex.token)
  expect((await other.delete(`${DEPLOYMENTS}/orders`)).status).toBe(404)
  const wrong = await other.put(`/api/v1/secrets/resources/db`, {
    values: { password: VALUE, 'not a key': VALUE },
  })
  expect(wrong.status).toBeGreaterThanOrEqual(400)
  expect((await other.post(`${DEPLOYMENTS}?dryRun=true`, { kind: 'Deployment' })).status).toBe(422)
  expect((await other.get(`${DEPLOYMENTS}/orders`)).status).toBe(404)
  await expect.poll(() => streamed().length).toBe(begun + 3)
  const [denied, missing, invalid] = streamed().slice(begun)
  expect(denied).toMatchObject({
    ...{ outcome: 'rejected', tenant: acme.id, action: 'deployments:write' },
    ...{ actor: { role: 'viewer' }, target: { name: 'orders' }, codes: ['permission_denied'], status: 403 },
  })
  expect(missing).toMatchObject({ tenant: globex.id, target: { name: 'orders' }, status: 404 })
  expect(invalid).toMatchObject({ tenant: globex.id, outcome: 'rejected', codes: wrong.codes })
  const audit = await other.get('/api/v1/audit?limit=500')
  expect(audit.text).not.toContain('permission_denied')
  expect(platform.logLines.join('\n')).not.toContain(VALUE)
})
