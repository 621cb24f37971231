// Tests provisioning while a new mount rejects calls. Real stores reject too briefly for a test, so a fake store does it.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { secret } from '../../ports/secret.ts'
import { namespaces, tenantId } from './real-store.fixture.ts'
import { createSecretsStoreClient } from './secrets-store-client.ts'
import { createSecretsWriter } from './secrets-writer.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function writerOfStore(refusals: number, deadlineMs: number) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^.*(mounts|config|acl).*$/, '$1')
    seen.push(path)
    const refused = path === 'config' && seen.filter((one) => one === 'config').length <= refusals
    response.writeHead(refused ? 400 : 204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port }: { port?: unknown } = Object(server.address())
  const auth = { token: secret('t') }
  const client = createSecretsStoreClient({ address: `http://127.0.0.1:${port}`, auth, deadlineMs })
  closing.push(
    () => client.close(),
    () => server.close(),
  )
  return { seen, writer: createSecretsWriter({ client, namespaces }) }
}

test('provisioning waits until a new mount accepts its settings', async () => {
  const { seen, writer } = await writerOfStore(3, 5000)
  expect(await writer.provisionTenant(tenantId())).toEqual({ kind: 'ok' })
  expect(seen).toEqual(['mounts', 'config', 'config', 'config', 'config', 'acl'])
})

test('provisioning fails at the deadline if a mount never accepts its settings', async () => {
  const { writer } = await writerOfStore(Number.POSITIVE_INFINITY, 200)
  const outcome = await writer.provisionTenant(tenantId())
  expect(outcome).toMatchObject({ kind: 'unavailable', cause: 'timeout' })
})
