// The paths of volumes, which contain the id of the tenant.

import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { header, jsonResponse, type ScriptedResponse, scriptRuntime } from './scripted-runtime.fixture.ts'

const TENANT = '00000000-0000-4000-8000-000000000000'
const ME = {
  tenant: { id: TENANT, name: 'acme' },
  token: { id: 'tok_1', name: 'ci', role: 'developer', expiresAt: '2027-01-01T00:00:00.000Z' },
  actions: [],
  server: { version: '0.1.0' },
}
const REJECTION = { code: 'volume_not_found', field: 'id', received: 'x', expected: 'y', why: 'z', doc: '/d' }
const ABSENT = () => jsonResponse(404, { ...REJECTION, rejections: [REJECTION] })

function clientOn(tenant: string | undefined, ...responses: readonly ScriptedResponse[]) {
  const scripted = scriptRuntime(...responses)
  const place = { baseUrl: 'http://h', ...(tenant === undefined ? {} : { tenant }) }
  return { client: createClient({ ...place, runtime: scripted.runtime }), ...scripted }
}

test("the id of the token's tenant is read once", async () => {
  const { client, requests } = clientOn(undefined, jsonResponse(200, ME), ABSENT(), ABSENT())
  for (const id of ['a', '..'])
    expect(await client.volumes.read(id)).toMatchObject({ ok: false, failure: { status: 404 } })
  expect(requests.map(({ url }) => url.replace('http://h/api/v1', ''))).toEqual([
    '/me',
    `/tenants/${TENANT}/volumes/a`,
    `/tenants/${TENANT}/volumes/~`,
  ])
})

test('a failure to read the tenant is the result, and the next call reads it again', async () => {
  const { client, requests } = clientOn(undefined, ABSENT(), jsonResponse(200, ME), ABSENT())
  expect((await client.volumes.why('a')).ok).toBe(false)
  expect((await client.volumes.why('a')).ok).toBe(false)
  expect(requests).toHaveLength(3)
})

test('a chosen tenant needs no request, and writes have their keys and conditions', async () => {
  const { client, requests } = clientOn(TENANT, ABSENT(), ABSENT(), ABSENT(), ABSENT())
  const { volumes } = client
  const id = 'vol_1' as Parameters<typeof volumes.resize>[0]
  await volumes.resize(id, 5)
  await volumes.setReplicas(id, 2, { ifMatch: '7' })
  await volumes.removeReplica(id, 'node_1')
  await volumes.dryRuns.addReplica(id, 'node_1')
  const [resized, scaled, removed, planned] = requests
  if (!resized || !scaled || !removed || !planned) throw new Error('requests are missing')
  expect([resized.init.method, header(resized, 'idempotency-key')]).toEqual(['POST', 'key-1'])
  expect([scaled.init.method, header(scaled, 'if-match'), scaled.init.body]).toEqual([
    'PATCH',
    '"7"',
    '{"replicas":2}',
  ])
  expect([removed.init.method, removed.url.endsWith('/vol_1/replicas/node_1')]).toEqual(['DELETE', true])
  expect([planned.init.body, planned.url.endsWith('/vol_1/replicas?dryRun=true')]).toEqual([
    '{"node_id":"node_1"}',
    true,
  ])
})
