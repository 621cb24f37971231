// Tests the adapter with a real secrets store: check-and-set, revoked and expired tokens, a sealed and a hung store.

import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { freePort, waitUntil } from '@holdfast/testkit'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Secret, secret } from '../../ports/secret.ts'
import {
  CANARY,
  document,
  namespaces,
  openRealStore,
  type RealStore,
  revealed,
  tenantId,
  web,
} from './real-store.fixture.ts'
import { createSecretsReader } from './secrets-reader.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { createSecretsWriter } from './secrets-writer.ts'

let real: RealStore
beforeAll(async () => {
  real = await openRealStore()
})
afterEach(() => real.store.resume())
afterAll(() => real.close())

test('versions are written with check-and-set and read by their number', async () => {
  const tenant = await real.newTenant()
  expect(await real.writer.currentVersion(tenant, web)).toEqual({ kind: 'absent' })
  expect(await real.writer.writeVersion(tenant, web, document(), 0)).toMatchObject({ kind: 'ok', version: 1 })
  expect(await real.writer.writeVersion(tenant, web, document({ A: 'one' }), 0)).toEqual({ kind: 'conflict' })
  expect(await real.writer.writeVersion(tenant, web, document({ A: 'one' }), 2)).toEqual({ kind: 'conflict' })
  expect(await real.writer.writeVersion(tenant, web, document({ A: 'two' }), 1)).toMatchObject({
    kind: 'ok',
    version: 2,
  })
  expect(await real.readValues(tenant, 1)).toEqual([['PASSWORD', CANARY]])
  expect(await real.readValues(tenant, 2)).toEqual([['A', 'two']])
  expect(await real.readValues(tenant, 3)).toEqual({ kind: 'absent' })
  expect(await real.readValues(tenant, 0)).toEqual({ kind: 'denied' })
})

test('a version has one time when it is written, read and listed, and its number another time in another store', async () => {
  const tenant = await real.newTenant()
  const first = await real.writer.writeVersion(tenant, web, document(), 0)
  const patched = await real.writer.patchVersion(tenant, web, document({ A: 'one' }), 1)
  const storedAt = [first, patched].map((one) => (one.kind === 'ok' ? one.storedAt : one))
  expect(storedAt).toEqual([expect.stringMatching(/^20.*Z$/), expect.stringMatching(/^20.*Z$/)])
  const read = await Promise.all([1, 2].map((version) => real.reader.readVersion(tenant, web, version)))
  expect(read).toMatchObject(storedAt.map((one) => ({ storedAt: one })))
  const listed = await real.writer.currentVersion(tenant, web)
  expect(listed).toMatchObject({ versions: storedAt.map((createdAt) => ({ createdAt })) })
  // A restored store has lost the first write and gives its number again.
  const other = await real.newTenant()
  const again = await real.writer.writeVersion(other, web, document(), 0)
  expect(again.kind === 'ok' && again.storedAt).not.toBe(storedAt[0])
})

test('a patch adds and changes keys of the newest version and keeps the others unread', async () => {
  const tenant = await real.newTenant()
  const patch = (values: { [key: string]: string }, cas: number) =>
    real.writer.patchVersion(tenant, web, document(values), cas)
  expect(await patch({ B: 'two' }, 0)).toEqual({ kind: 'absent' })
  await real.writer.writeVersion(tenant, web, document({ PASSWORD: CANARY, A: 'one' }), 0)
  expect(await patch({ B: 'two' }, 0)).toEqual({ kind: 'conflict' })
  expect(await patch({ B: 'two' }, 2)).toEqual({ kind: 'conflict' })
  expect(await patch({ A: 'changed', B: 'two' }, 1)).toMatchObject({ kind: 'ok', version: 2 })
  const expected = [
    ['A', 'changed'],
    ['B', 'two'],
    ['PASSWORD', CANARY],
  ]
  const found = await real.readValues(tenant, 2)
  expect(Array.isArray(found) && found.sort()).toEqual(expected)
  await real.writer.destroyVersion(tenant, web, 2)
  expect(await patch({ C: 'three' }, 2)).toEqual({ kind: 'absent' })
  await real.writer.writeVersion(tenant, web, document(), 2)
  const kinds = await Promise.all(Array.from({ length: 6 }, () => patch({ R: 'x' }, 3)))
  expect(kinds.map(({ kind }) => kind).sort()).toEqual([...Array(5).fill('conflict'), 'ok'])
})

test('exactly one of several concurrent writers of one version succeeds', async () => {
  const tenant = await real.newTenant()
  const racers = Array.from({ length: 12 }, () => real.writer.writeVersion(tenant, web, document(), 0))
  const kinds = (await Promise.all(racers)).map(({ kind }) => kind).sort()
  expect(kinds).toEqual([...Array(11).fill('conflict'), 'ok'])
})

test('keys and values of every kind are read as they were written', async () => {
  const tenant = await real.newTenant()
  const odd = new Map(
    [
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['', 'empty key'],
      ['ключ', '\u0000\u001f"\\\u2028😀'],
      ['big', 'x'.repeat(65_536)],
    ].map(([key = '', value = '']) => [key, secret(value)] as const),
  )
  expect((await real.writer.writeVersion(tenant, web, odd, 0)).kind).toBe('ok')
  const expected = revealed(odd)
  expect(await real.readValues(tenant, 1)).toEqual(expect.arrayContaining(expected))
})

test('a destroyed version stays absent, and version numbers are never reused', async () => {
  const tenant = await real.newTenant()
  await real.writer.writeVersion(tenant, web, document(), 0)
  await real.writer.writeVersion(tenant, web, document({ A: 'two' }), 1)
  expect(await real.writer.destroyVersion(tenant, web, 1)).toEqual({ kind: 'ok' })
  expect(await real.writer.destroyVersion(tenant, web, 1)).toEqual({ kind: 'ok' })
  expect(await real.readValues(tenant, 1)).toEqual({ kind: 'absent' })
  expect(await real.readValues(tenant, 2)).toEqual([['A', 'two']])
  expect(await real.writer.deleteAll(tenant, web)).toEqual({ kind: 'ok' })
  expect(await real.readValues(tenant, 2)).toEqual({ kind: 'absent' })
  const found = await real.writer.currentVersion(tenant, web)
  expect(found).toMatchObject({ kind: 'ok', version: 2 })
  if (found.kind === 'ok') {
    expect(found.versions.map(({ version, destroyed }) => [version, destroyed])).toEqual([
      [1, true],
      [2, true],
    ])
  }
  expect(await real.writer.writeVersion(tenant, web, document(), 2)).toMatchObject({ kind: 'ok', version: 3 })
  expect(await real.writer.deleteAll(tenant, { namespace: 'resources', label: 'never' })).toEqual({
    kind: 'ok',
  })
  const unknown = { namespace: 'resources', label: 'never' }
  expect(await real.writer.destroyVersion(tenant, unknown, 1)).toEqual({ kind: 'ok' })
})

test('platform and tenants may be provisioned again and at the same time', async () => {
  const again = await real.provision()
  expect(again.api.roleId).toBe(real.platform.api.roleId)
  const tenant = tenantId()
  const racers = Array.from({ length: 6 }, () => real.writer.provisionTenant(tenant))
  for (const done of await Promise.all(racers)) expect(done).toEqual({ kind: 'ok' })
  expect(await real.writer.writeVersion(tenant, web, document(), 0)).toMatchObject({ kind: 'ok', version: 1 })
  expect(await real.writer.provisionTenant(tenant)).toEqual({ kind: 'ok' })
  expect(await real.readValues(tenant, 1)).toEqual([['PASSWORD', CANARY]])
})

test('a removed tenant leaves nothing behind, other tenants keep everything, and removal may be repeated', async () => {
  const [gone, neighbour] = [await real.newTenant(), await real.newTenant()]
  for (const tenant of [gone, neighbour]) await real.writer.writeVersion(tenant, web, document(), 0)
  expect(await real.writer.removeTenant(gone)).toEqual({ kind: 'ok' })
  expect(await real.writer.removeTenant(gone)).toEqual({ kind: 'ok' })
  expect(await real.readValues(gone, 1)).not.toEqual([['PASSWORD', CANARY]])
  expect(await real.readValues(neighbour, 1)).toEqual([['PASSWORD', CANARY]])
  expect(await real.writer.provisionTenant(gone)).toEqual({ kind: 'ok' })
  expect(await real.writer.currentVersion(gone, web)).toEqual({ kind: 'absent' })
})

test('a tenant that was never provisioned cannot be written to', async () => {
  const tenant = tenantId()
  const outcome = await real.writer.writeVersion(tenant, web, document(), 0)
  expect(outcome).toMatchObject({ kind: 'unavailable', cause: 'mount_missing', applied: 'no' })
})

test('a revoked token is replaced by a new login; a valid one without permission is denied', async () => {
  const tenant = await real.newTenant()
  const client = real.open(real.platform.api)
  const mine = createSecretsWriter({ client, namespaces })
  expect((await mine.currentVersion(tenant, web)).kind).toBe('absent')
  const path = `kv-${tenant}/data/deployments/web`
  const logins = real.audited('auth/approle/login')
  expect(await client.within((signal) => client.call({ method: 'GET', path, signal }))).toEqual({
    kind: 'denied',
  })
  expect(real.audited('auth/approle/login')).toBe(logins)
  await client.within((signal) =>
    client.call({ method: 'POST', path: 'auth/token/revoke-self', body: '{}', signal }),
  )
  expect((await mine.currentVersion(tenant, web)).kind).toBe('absent')
})

test('revoked child tokens are replaced', async () => {
  const tenant = await real.newTenant()
  await real.writer.writeVersion(tenant, web, document(), 0)
  const client = real.open(real.platform.broker)
  const mine = createSecretsReader({ client, namespaces })
  expect((await mine.readVersion(tenant, web, 1)).kind).toBe('ok')
  // Revoking the parent token revokes its child tokens.
  await client.within((signal) =>
    client.call({ method: 'POST', path: 'auth/token/revoke-self', body: '{}', signal }),
  )
  expect((await mine.readVersion(tenant, web, 1)).kind).toBe('ok')
})

test('a child token is used for four minutes and then replaced', async () => {
  const tenant = await real.newTenant()
  await real.writer.writeVersion(tenant, web, document(), 0)
  let now = 0
  const client = real.open(real.platform.broker, { nowMs: () => now })
  const used: Secret[] = []
  const watched: SecretsStoreClient = {
    ...client,
    callAs: (token, call) => {
      used.push(token)
      return client.callAs(token, call)
    },
  }
  const mine = createSecretsReader({ client: watched, namespaces })
  await Promise.all([mine.readVersion(tenant, web, 1), mine.readVersion(tenant, web, 1)])
  now = 239_000
  await mine.readVersion(tenant, web, 1)
  expect(new Set(used).size).toBe(1)
  now = 241_000
  expect((await mine.readVersion(tenant, web, 1)).kind).toBe('ok')
  expect(new Set(used).size).toBe(2)
})

test('a token is renewed before it expires and replaced after it expired', async () => {
  let now = 0
  const client = real.open(real.platform.api, { nowMs: () => now })
  const before = {
    logins: real.audited('auth/approle/login'),
    renewals: real.audited('auth/token/renew-self'),
  }
  const logins = () => real.audited('auth/approle/login') - before.logins
  const renewals = () => real.audited('auth/token/renew-self') - before.renewals
  const tenant = tenantId()
  const look = (path: string) => client.within((signal) => client.call({ method: 'GET', path, signal }))
  // The mount does not exist, so the store refuses the request; `refused` instead of `denied` shows a valid token.
  const good = async () => expect(await look(`sys/mounts/kv-${tenant}`)).toEqual({ kind: 'refused' })
  await Promise.all([good(), good(), good()])
  expect([logins(), renewals()]).toEqual([1, 0])
  now = 2_000_000
  // After a denied call the client renews its token to find out whether the token is still valid.
  expect(await look(`kv-${tenant}/data/deployments/web`)).toEqual({ kind: 'denied' })
  now = 4_500_000
  await good()
  await waitUntil(() => renewals() === 2, { what: 'the token was renewed in passing' })
  expect(logins()).toBe(1)
  now = 50_000_000
  await good()
  expect(logins()).toBe(2)
})

test('a wrong identity is an unavailable store, not a denied path', async () => {
  const wrongSecret = real.open({ roleId: real.platform.api.roleId, secretId: secret(CANARY) })
  const wrongRole = real.open({ roleId: randomUUID(), secretId: real.platform.api.secretId })
  const look = (client: SecretsStoreClient) =>
    createSecretsWriter({ client, namespaces }).currentVersion(tenantId(), web)
  expect(await look(wrongSecret)).toMatchObject({ kind: 'unavailable', applied: 'no' })
  expect(await look(wrongRole)).toEqual({ kind: 'unavailable', cause: 'login_refused', applied: 'no' })
})

test('a sealed store is unavailable at once and works again when unsealed', async () => {
  const tenant = await real.newTenant()
  await real.writer.writeVersion(tenant, web, document(), 0)
  expect(await real.writer.health()).toEqual({ kind: 'ok' })
  await real.store.seal()
  // A call that waited for its deadline would have the cause `timeout`.
  expect(await real.writer.health()).toMatchObject({ kind: 'unavailable', cause: 'sealed' })
  const sealed = { kind: 'unavailable', cause: 'sealed' }
  expect(await real.writer.writeVersion(tenant, web, document(), 1)).toMatchObject(sealed)
  expect(await real.writer.currentVersion(tenant, web)).toMatchObject({ ...sealed, applied: 'no' })
  expect(await real.reader.readVersion(tenant, web, 1)).toMatchObject(sealed)
  expect(await real.writer.provisionTenant(tenantId())).toMatchObject(sealed)
  await real.store.unseal()
  expect(await real.readValues(tenant, 1)).toEqual([['PASSWORD', CANARY]])
})

test('a hung store ends every call at the deadline, and the outcome of a sent write is unknown', async () => {
  const tenant = await real.newTenant()
  const client = real.open(real.platform.api, { deadlineMs: 2_000 })
  const mine = createSecretsWriter({ client, namespaces })
  expect((await mine.currentVersion(tenant, web)).kind).toBe('absent')
  real.store.pause()
  // The store hangs until all calls have ended, so without a deadline they would never end.
  const [write, read, health] = await Promise.all([
    mine.writeVersion(tenant, web, document(), 0),
    mine.currentVersion(tenant, web),
    mine.health(),
  ])
  expect(write).toEqual({ kind: 'unavailable', cause: 'timeout', applied: 'unknown' })
  expect(read).toEqual({ kind: 'unavailable', cause: 'timeout', applied: 'no' })
  expect(health).toMatchObject({ kind: 'unavailable', cause: 'timeout' })
  real.store.resume()
  expect(inspect([write, read, health], { depth: 9 })).not.toContain(CANARY)
})

test('a write to an unreachable store is certainly not applied', async () => {
  const client = real.open({ token: secret(CANARY) }, { address: `http://127.0.0.1:${await freePort()}` })
  const mine = createSecretsWriter({ client, namespaces })
  const outcome = await mine.writeVersion(tenantId(), web, document(), 0)
  expect(outcome).toEqual({ kind: 'unavailable', cause: 'connection', applied: 'no' })
})

test('secret values appear in no text form of clients, documents and outcomes', async () => {
  const tenant = await real.newTenant()
  await real.writer.writeVersion(tenant, web, document(), 0)
  const found = await real.reader.readVersion(tenant, web, 1)
  const denied = await real.reader.readVersion(tenant, { namespace: CANARY, label: CANARY }, 1)
  const seen = [found, denied, document(), real.platform, real.clients]
  const texts = [
    JSON.stringify(seen),
    inspect(seen, { depth: 20, showHidden: true }),
    String(document().get('PASSWORD')),
  ]
  const secrets = [
    CANARY,
    real.platform.api.secretId.reveal(),
    real.platform.broker.secretId.reveal(),
    real.store.rootToken,
  ]
  for (const text of texts) {
    for (const value of secrets) expect(text.includes(value)).toBe(false)
  }
})
