// Secret ids on a real secrets store: one that ends refuses the login, one that is renewed in time does not, and a stolen
// identity reaches only secret ids whose value it holds.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { issueIdentity } from '../../adapters/secrets-store/provision-platform.ts'
import { openRealStore, type RealStore } from '../../adapters/secrets-store/real-store.fixture.ts'
import { followSecrets } from '../../config/live-secrets.ts'
import { loadConfig } from '../../config/load-config.ts'
import { connectSecretsWriter, withSecretId } from '../../connect-engines.ts'
import { type Secret, secret } from '../../ports/secret.ts'
import type { SecretIdOwner } from '../../ports/secret-ids.ts'
import { checkSecretId } from './renew-secret-id.ts'
import { openSecretIdFile } from './secret-id-file.ts'

/** The answer of Vault 1.13 to a login with a secret id that it does not know. */
const REFUSED = 500
const ROLE = 'auth/approle/role/holdfast-api'
let real: RealStore
beforeAll(async () => {
  real = await openRealStore()
})
afterAll(async () => {
  // Other tests share the store, and have secret ids of the usual lifetime.
  await real.provision()
  real.close()
})

async function call(method: string, path: string, token: string, body?: object): Promise<number> {
  const answer = await fetch(`${real.store.address}/v1/${path}`, {
    method,
    headers: { 'x-vault-token': token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  await answer.arrayBuffer()
  return answer.status
}

const loginStatus = (secretId: Secret) =>
  call('POST', 'auth/approle/login', '', {
    role_id: real.platform.api.roleId,
    secret_id: secretId.reveal(),
  })

/** An identity whose secret id has this lifetime, in a file as a process has it. */
async function openProcess(lifetime: string, owner: SecretIdOwner) {
  expect(await call('POST', ROLE, real.store.rootToken, { secret_id_ttl: lifetime })).toBe(204)
  const privileged = real.open({ token: secret(real.store.rootToken) })
  const identity = await issueIdentity(privileged, 'api', owner)
  if ('kind' in identity) throw new Error(identity.kind)
  const path = join(mkdtempSync(join(tmpdir(), 'secret-id-')), 'api-secret-id')
  writeFileSync(path, `${identity.secretId.reveal()}\n`, { mode: 0o600 })
  const text = `roles: [api]
etcd: { endpoints: ["http://127.0.0.1:1"] }
cluster: { key: key }
secretsStore: { address: "${real.store.address}", api: { roleId: "${identity.roleId}", secretId: "${identity.secretId.reveal()}" } }
`
  const loaded = loadConfig({ text, env: {} })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults))
  const live = followSecrets(loaded.config)
  const api = live.config.secretsStore.api
  if (api === undefined) throw new Error('no identity')
  const deps = {
    current: () => api.secretId,
    file: openSecretIdFile(path),
    loggedIn: <T>(of: Secret, work: Parameters<typeof withSecretId<T>>[3]) =>
      withSecretId(live.config, 'api', of, work),
    use: (next: Secret) => live.useSecretId('api', next),
    now: Date.now,
  }
  return { ...{ path, deps, live }, first: identity.secretId }
}

/** The store removes ended secret ids once a minute. */
const TIDY_MS = 100_000

test('a secret id that ends refuses the login', { timeout: 2 * TIDY_MS }, async () => {
  const { first, deps } = await openProcess('2s', 'process')
  expect(await loginStatus(first)).toBe(200)
  const hasEnded = async () => (await loginStatus(first)) !== 200
  await waitUntil(hasEnded, { what: 'the secret id has ended', timeoutMs: TIDY_MS })
  expect(await checkSecretId(deps)).toMatchObject({ kind: 'failed', why: 'login_refused' })
})

test('a secret id that is renewed in time keeps the process logged in, and the old one is destroyed', async () => {
  const { first, deps, path, live } = await openProcess('60s', 'process')
  expect(await checkSecretId(deps)).toMatchObject({ kind: 'valid', isOwn: true })
  expect(readFileSync(path, 'utf8').trim()).toBe(first.reveal())
  const lateMs = Date.now() + 31_000
  const renewed = await checkSecretId({ ...deps, now: () => lateMs })
  expect(renewed).toMatchObject({ kind: 'renewed', expiresAtMs: expect.any(Number) })
  const inFile = secret(readFileSync(path, 'utf8').trim())
  expect(inFile.reveal()).not.toBe(first.reveal())
  expect(deps.current().reveal()).toBe(inFile.reveal())
  expect([await loginStatus(first), await loginStatus(inFile)]).toEqual([REFUSED, 200])
  const writer = connectSecretsWriter(live.config)
  expect(await writer.provisionTenant(await real.newTenant())).toEqual({ kind: 'ok' })
})

test('the auth method that setup enabled allows the configured lifetime', async () => {
  const endOf = async (lifetime: string) => {
    const check = await checkSecretId((await openProcess(lifetime, 'process')).deps)
    return check.kind === 'failed' ? Number.NaN : (check.expiresAtMs ?? 0)
  }
  const [soon, late] = [await endOf('1m'), await endOf('2160h')]
  expect((late - soon) / 86_400_000).toBeCloseTo(90, 1)
})

test('a secret id that an operator issued stays valid for its other users until it ends', async () => {
  const { first, deps } = await openProcess('60s', 'operator')
  const lateMs = Date.now() + 31_000
  expect(await checkSecretId({ ...deps, now: () => lateMs })).toMatchObject({ kind: 'renewed' })
  expect(await loginStatus(first)).toBe(200)
})

test('a secret id of an earlier version never expires, and is not renewed', async () => {
  const { first, deps } = await openProcess('0', 'operator')
  expect(await checkSecretId(deps)).toMatchObject({ kind: 'valid', expiresAtMs: undefined })
  expect(await loginStatus(first)).toBe(200)
})

test('an identity cannot list secret ids, nor issue those of the other identity, nor change its role', async () => {
  const { first } = await openProcess('60s', 'process')
  const body = JSON.stringify({ role_id: real.platform.api.roleId, secret_id: first.reveal() })
  const login = await fetch(`${real.store.address}/v1/auth/approle/login`, { method: 'POST', body })
  const token: string = JSON.parse(await login.text()).auth.client_token
  const other = 'auth/approle/role/holdfast-broker'
  for (const [method, path] of [
    ['LIST', `${ROLE}/secret-id`],
    ['POST', `${ROLE}/secret-id-accessor/lookup`],
    ['POST', `${ROLE}/secret-id-accessor/destroy`],
    ['POST', `${ROLE}/custom-secret-id`],
    ['POST', `${ROLE}/secret-id-ttl`],
    ['POST', ROLE],
    ['POST', `${other}/secret-id`],
    ['POST', `${other}/secret-id/lookup`],
    ['POST', `${other}/secret-id/destroy`],
  ] as const)
    expect([path, await call(method, path, token, {})]).toEqual([path, 403])
  expect(await call('POST', `${ROLE}/secret-id`, token, {})).toBe(200)
})
