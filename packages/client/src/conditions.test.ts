// Changes that name the revision that the caller has read.

import { asVolumeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { header, jsonResponse, scriptRuntime } from './scripted-runtime.fixture.ts'

const TENANT = '00000000-0000-4000-8000-000000000000'

test('acts on nodes, and deletions of backups, tokens and divergences, send If-Match', async () => {
  const { runtime, requests } = scriptRuntime(...Array.from({ length: 8 }, () => jsonResponse(412, {})))
  const client = createClient({ baseUrl: 'http://h', tenant: TENANT, runtime })
  const matching = { ifMatch: '7' }
  await client.nodes.cordon('node_1', matching)
  await client.nodes.uncordon('node_1', matching)
  await client.nodes.drain('node_1', matching)
  await client.nodes.remove('node_1', { force: true }, matching)
  await client.nodes.releaseClaim('acme-1', matching)
  await client.backups.remove('bak_1', matching)
  await client.tenants.revokeToken(TENANT, 'tok_1', matching)
  await client.volumes.divergences.remove(asVolumeId('vol_1'), 2, { node: 'd0', ...matching })
  expect(requests.map((each) => header(each, 'if-match'))).toEqual(Array.from({ length: 8 }, () => '"7"'))
  expect(requests.at(-1)?.url).toMatch(/divergences\/2\?node=d0$/)
})
