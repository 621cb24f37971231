// Tests with stolen tokens that the secrets store enforces the policies.

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Secret } from '../../ports/secret.ts'
import { CANARY, document, openRealStore, type RealStore, web } from './real-store.fixture.ts'

let real: RealStore
beforeAll(async () => {
  real = await openRealStore()
})
afterAll(() => real.close())

/** Obtains a token of an identity without the client, as an attacker would. */
async function stealToken(identity: { roleId: string; secretId: Secret }): Promise<string> {
  const body = JSON.stringify({ role_id: identity.roleId, secret_id: identity.secretId.reveal() })
  const answer = await fetch(`${real.store.address}/v1/auth/approle/login`, { method: 'POST', body })
  return JSON.parse(await answer.text()).auth.client_token
}

async function statusOf(token: string, method: string, path: string, body?: unknown): Promise<number> {
  const answer = await fetch(`${real.store.address}/v1/${path}`, {
    method,
    headers: { 'x-vault-token': token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  await answer.arrayBuffer()
  return answer.status
}

test('a tenant mount requires check-and-set and keeps more than ten versions', async () => {
  const tenant = await real.newTenant()
  const path = `kv-${tenant}/data/deployments/web`
  expect(await statusOf(real.store.rootToken, 'POST', path, { data: { A: 'no cas' } })).toBe(400)
  for (let cas = 0; cas < 12; cas += 1) await real.writer.writeVersion(tenant, web, document(), cas)
  const found = await real.writer.currentVersion(tenant, web)
  expect(found.kind === 'ok' && found.versions.map(({ version }) => version)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ])
})

test('a stolen API token reads no secrets and cannot extend its permissions', async () => {
  const tenant = await real.newTenant()
  await real.writer.writeVersion(tenant, web, document(), 0)
  const registryHost = 'registry.example.com:443'
  await real.writer.writeVersion(tenant, { registryHost }, document(), 0)
  const token = await stealToken(real.platform.api)
  const mount = `kv-${tenant}`
  const refused: [string, string, unknown?][] = [
    ['GET', `${mount}/data/deployments/web`],
    ['GET', `${mount}/data/deployments/web?version=1`],
    ['GET', `${mount}/data/registries/registry.example.com_443`],
    ['GET', `${mount}/subkeys/deployments/web`],
    ['LIST', `${mount}/metadata/`],
    ['LIST', `${mount}/metadata/deployments/`],
    ['DELETE', `${mount}/metadata/deployments/web`],
    ['DELETE', `${mount}/data/deployments/web`],
    ['POST', `${mount}/data/elsewhere/web`, { data: {}, options: { cas: 0 } }],
    ['POST', `${mount}/metadata/deployments/web`, { max_versions: 1 }],
    ['POST', 'sys/mounts/other', { type: 'kv' }],
    ['POST', 'sys/mounts/kv-x', { type: 'transit' }],
    ['GET', 'sys/policies/acl/holdfast-api'],
    ['POST', 'sys/policies/acl/holdfast-api', { policy: '{}' }],
    ['POST', 'sys/policies/acl/default', { policy: '{}' }],
    ['POST', 'auth/token/create', { policies: [`broker-${tenant}`] }],
    ['POST', 'auth/token/create/holdfast-broker', { policies: [`broker-${tenant}`] }],
    ['POST', 'auth/approle/role/holdfast-broker/secret-id', {}],
    ['GET', 'auth/approle/role/holdfast-broker/role-id'],
    ['PUT', 'sys/seal'],
  ]
  for (const [method, path, body] of refused) {
    expect([method, path, await statusOf(token, method, path, body)]).toEqual([method, path, 403])
  }
  expect(await statusOf(token, 'GET', `${mount}/metadata/deployments/web`)).toBe(200)
})

test('the broker creates child tokens for single tenants, and a child reads only its tenant', async () => {
  const [mine, other] = [await real.newTenant(), await real.newTenant()]
  for (const tenant of [mine, other]) await real.writer.writeVersion(tenant, web, document(), 0)
  const token = await stealToken(real.platform.broker)
  const create = `${real.store.address}/v1/auth/token/create/holdfast-broker`
  const mint = (policies: string[]) =>
    fetch(create, {
      method: 'POST',
      headers: { 'x-vault-token': token },
      body: JSON.stringify({ policies, ttl: '48h' }),
    })
  const { auth } = JSON.parse(await (await mint([`broker-${mine}`])).text())
  expect(auth.policies).toEqual([`broker-${mine}`])
  expect(auth.lease_duration).toBeLessThanOrEqual(300)
  expect(await statusOf(auth.client_token, 'GET', `kv-${mine}/data/deployments/web`)).toBe(200)
  for (const path of [
    `kv-${other}/data/deployments/web`,
    `kv-${mine}/metadata/deployments/web`,
    `kv-${mine}/data/other/web`,
  ]) {
    expect(await statusOf(auth.client_token, 'GET', path)).toBe(403)
  }
  const overwrite = { data: { A: '' }, options: { cas: 1 } }
  expect(await statusOf(auth.client_token, 'POST', `kv-${mine}/data/deployments/web`, overwrite)).toBe(403)
  expect(await statusOf(auth.client_token, 'POST', 'auth/token/create/holdfast-broker', {})).toBe(403)
  for (const policies of [['root'], ['default'], ['holdfast-api'], [`broker-${mine}`, 'holdfast-api']]) {
    expect((await mint(policies)).status).toBeGreaterThanOrEqual(400)
  }
  expect(await statusOf(token, 'GET', `kv-${mine}/data/deployments/web`)).toBe(403)
  expect(await statusOf(token, 'POST', 'auth/token/create', { policies: [`broker-${mine}`] })).toBe(403)
})

test('the API reads no data path, and a child token reads no path of another tenant', async () => {
  const tenants = [await real.newTenant(), await real.newTenant(), await real.newTenant()]
  const paths: [tenant: string, path: string][] = []
  for (const tenant of tenants) {
    for (const namespace of ['deployments', 'resources'])
      for (const label of ['web', 'db', 'a-1'])
        await real.writer.writeVersion(tenant, { namespace, label }, document(), 0)
    await real.writer.writeVersion(tenant, { registryHost: 'registry.example.com:443' }, document(), 0)
    for (const path of await everyPath(`kv-${tenant}`)) paths.push([tenant, path])
  }
  expect(paths).toHaveLength(3 * 7)
  const [api, broker] = [await stealToken(real.platform.api), await stealToken(real.platform.broker)]
  const [mine = ''] = tenants
  const child = await mintChild(broker, mine)
  for (const [tenant, path] of paths) {
    for (const asked of [path, `${path}?version=1`, path.replace('/data/', '/subkeys/')])
      expect([asked, await statusOf(api, 'GET', asked)]).toEqual([asked, 403])
    expect([path, await statusOf(broker, 'GET', path)]).toEqual([path, 403])
    expect([path, await statusOf(child, 'GET', path)]).toEqual([path, tenant === mine ? 200 : 403])
  }
})

/** Returns all secret paths of a mount, listed with the root token. */
async function everyPath(mount: string): Promise<string[]> {
  const list = async (folder: string): Promise<string[]> => {
    const headers = { 'x-vault-token': real.store.rootToken }
    const answer = await fetch(`${real.store.address}/v1/${mount}/metadata/${folder}`, {
      method: 'LIST',
      headers,
    })
    return JSON.parse(await answer.text()).data.keys
  }
  const found: string[] = []
  for (const folder of await list(''))
    for (const name of await list(folder)) found.push(`${mount}/data/${folder}${name}`)
  return found
}

async function mintChild(token: string, tenant: string): Promise<string> {
  const answer = await fetch(`${real.store.address}/v1/auth/token/create/holdfast-broker`, {
    method: 'POST',
    headers: { 'x-vault-token': token },
    body: JSON.stringify({ policies: [`broker-${tenant}`] }),
  })
  return JSON.parse(await answer.text()).auth.client_token
}

test('tenants do not see each other through the reader', async () => {
  const [mine, other] = [await real.newTenant(), await real.newTenant()]
  await real.writer.writeVersion(mine, web, document(), 0)
  expect(await real.readValues(mine, 1)).toEqual([['PASSWORD', CANARY]])
  expect(await real.readValues(other, 1)).toEqual({ kind: 'absent' })
})
