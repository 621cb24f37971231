// Sends hostile paths through the whole adapter to a fake store that records each request. Every recorded path must be
// valid and in the tenant's own mount.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { isTenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { secret } from '../../ports/secret.ts'
import { createSecretsReader } from './secrets-reader.ts'
import { createSecretsStoreClient } from './secrets-store-client.ts'
import { createSecretsWriter } from './secrets-writer.ts'

const PIECES = [
  '..',
  '.',
  '',
  '/',
  '//',
  '%2e%2e',
  '%2F',
  '%252e',
  '\\',
  '\0',
  '．．',
  '+',
  '*',
  '?version=1',
  '#',
  'web',
  'A',
  '-',
]
const NAMESPACES = [
  'deployments',
  'resources',
  'registries',
  'sys',
  'deployments/..',
  '../kv-other/data/deployments',
  'Deployments',
  '+',
  '*',
  '',
]

const LABELS = PIECES.flatMap((first) =>
  PIECES.flatMap((second) =>
    ['', 'x', `/${first}`, `${second}9`].map((third) => `${first}${second}${third}`),
  ),
)

test('no hostile path leaves the process', async () => {
  const seen = new Set<string>()
  const server = createServer((request, response) => {
    seen.add(request.url ?? '')
    const auth = { client_token: 'child', lease_duration: 300 }
    response.end(JSON.stringify({ auth, data: { version: 1, current_version: 1, versions: {}, data: {} } }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port }: { port?: unknown } = Object(server.address())
  const client = createSecretsStoreClient({
    address: `http://127.0.0.1:${port}`,
    auth: { token: secret('t') },
  })
  const namespaces = ['deployments', 'resources']
  const [writer, reader] = [
    createSecretsWriter({ client, namespaces }),
    createSecretsReader({ client, namespaces }),
  ]
  const tenant = randomUUID()
  if (!isTenantId(tenant)) throw new TypeError(tenant)
  for (const namespace of NAMESPACES) {
    for (const label of LABELS) {
      const path = { namespace, label }
      await writer.writeVersion(tenant, path, new Map(), 0)
      await writer.patchVersion(tenant, path, new Map(), 0)
      await writer.currentVersion(tenant, path)
      await writer.destroyVersion(tenant, path, 1)
      await reader.readVersion(tenant, path, 1)
      await reader.readVersion(tenant, { registryHost: `${namespace}${label}` }, 1)
    }
  }
  client.close()
  server.close()
  seen.delete('/v1/auth/token/create/holdfast-broker')
  const grammar = new RegExp(
    `^/v1/kv-${tenant}/(?:(?:data|metadata|destroy)/(?:deployments|resources)/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\\?version=1)?$`,
  )
  expect([...seen].filter((path) => !grammar.test(path))).toEqual([])
  // Each valid label causes four requests in each of the two namespaces: read, write, list of versions, destruction.
  const sound = new Set(LABELS.filter((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label)))
  expect(NAMESPACES.length * LABELS.length).toBeGreaterThan(10_000)
  expect(seen.size).toBe(2 * sound.size * 4)
})
