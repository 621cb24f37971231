// /api/v1/secrets on a real etcd and a real secrets store: writes, lists, rejections and deletions.

import { sharedSecretsStore } from '@holdfast/testkit'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { SECRET_WRITE_FAULTS } from '@holdfast/testkit/secrets/secret-provocations'
import {
  at,
  DEPLOYMENTS,
  SECRETS,
  type SecretsWorld,
  startSecretsWorld,
} from '@holdfast/testkit/secrets/secrets-world'
import { createStoreEye } from '@holdfast/testkit/secrets/store-eye'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: SecretsWorld

beforeAll(async () => {
  world = await startSecretsWorld()
})
afterAll(() => world.platform.stop())

describe('writing a secret', () => {
  test('returns keys and version, never a value, and stores exactly the sent document', async () => {
    const label = world.newLabel()
    const first = await world.write(label, { user: 'orders', password: 'p-one' })
    expect(first.status, first.text).toBe(200)
    const shown = { path: `resources/${label}`, namespace: 'resources', resource: label }
    expect(first.body).toEqual({ ...shown, version: 1, keys: ['user', 'password'], warnings: [] })
    expect(await world.eye.read(`resources/${label}`, 1)).toEqual({ user: 'orders', password: 'p-one' })
    const second = await world.write(label, { password: 'p-two' })
    expect(second.body).toMatchObject({ ...shown, version: 2, keys: ['password'] })
    expect(await world.eye.read(`resources/${label}`, 2)).toEqual({ password: 'p-two' })
    expect(await world.leftIntents()).toEqual([])
  })

  test("accepts values that the platform writes itself: a field name, the tenant's id or the token's id", async () => {
    const { id, token } = world.platform.acme
    const caller = `tok_${token.split('_')[1]}`
    for (const value of [
      'createdAt',
      'runningRevision',
      'secretsVersion',
      'volume_access_mode_conflict',
      id,
      caller,
    ]) {
      const label = world.newLabel()
      const written = await world.write(label, { value })
      expect([value, written.status], written.text).toEqual([value, 200])
      expect(await world.eye.read(`resources/${label}`, 1)).toEqual({ value })
      const name = world.newLabel()
      const secrets = [{ name: 'DB', vault_path: `resources/${name}`, values: { value } }]
      const { image } = world.platform
      const deployed = await world.api.post(DEPLOYMENTS, {
        kind: 'Deployment',
        name,
        image,
        replicas: 0,
        secrets,
      })
      expect([value, deployed.status], deployed.text).toEqual([value, 201])
    }
  })

  test('generates values in both ways, beside sent values, and each value differs', async () => {
    const label = world.newLabel()
    const sent = {
      values: { user: 'orders' },
      generate: { keys: ['password', 'pepper'], length: 40, charset: 'urlsafe' },
    }
    const written = await world.api.put(at(label), sent)
    expect(written.body).toMatchObject({ version: 1, keys: ['user', 'password', 'pepper'] })
    const { user, password, pepper } = await world.eye.read(`resources/${label}`, 1)
    expect(user).toBe('orders')
    expect(password).toMatch(/^[A-Za-z0-9._~-]{40}$/)
    expect(pepper).toMatch(/^[A-Za-z0-9._~-]{40}$/)
    expect(pepper).not.toBe(password)
    expect(written.text).not.toContain(password)
    await world.api.put(at(label), { generate: { keys: ['k'], bytes: 24, encoding: 'hex' } })
    expect((await world.eye.read(`resources/${label}`, 2))['k']).toMatch(/^[0-9a-f]{48}$/)
  })

  test('as a dry run validates everything, names the next version and stores nothing', async () => {
    const label = world.newLabel()
    const send = (body: object, to = at(label)) => world.api.put(`${to}?dryRun=true`, body)
    for (const version of [1, 2]) {
      const before = await dumpTenants(world.platform)
      const answer = await send({ values: { a: 'sentinel value' }, generate: { keys: ['b'] } })
      expect([answer.status, answer.body['plan']], answer.text).toMatchObject([
        200,
        { result: { path: `resources/${label}`, version, keys: ['a', 'b'] }, steps: [] },
      ])
      expect(await dumpTenants(world.platform)).toEqual(before)
      expect(await world.eye.numbersOf(`resources/${label}`)).toHaveLength(version - 1)
      await world.write(label)
    }
    expect((await send({})).codes).toEqual(['secret_write_empty'])
    expect((await send({ values: { a: 'b' } }, at(label, 'deployments'))).codes).toEqual([
      'secret_path_namespace_split',
    ])
  })

  test('compares If-Match with the newest version, and a conflict leaves no version behind', async () => {
    const label = world.newLabel()
    const body = { values: { password: 'p-one' } }
    const send = (etag: string, query = '') =>
      world.api.put(`${at(label)}${query}`, body, { 'if-match': etag })
    expect((await send('"1"')).codes).toEqual(['revision_conflict'])
    const first = await send('"0"')
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"1"'])
    for (const query of ['', '?dryRun=true']) {
      const stale = await send('"0"', query)
      expect([stale.status, stale.codes]).toEqual([412, ['revision_conflict']])
    }
    expect((await send('"1"')).body).toMatchObject({ version: 2 })
    expect((await world.api.delete(at(label), { 'if-match': '"1"' })).codes).toEqual(['revision_conflict'])
    expect(await world.eye.numbersOf(`resources/${label}`)).toHaveLength(2)
    expect((await world.api.delete(at(label), { 'if-match': '"2"' })).status).toBe(202)
    expect(await world.leftIntents()).toEqual([])
  })

  test('emits an event and an audit entry without keys and values', async () => {
    const label = world.newLabel()
    await world.write(label, { sentinel_key: 'sentinel value' })
    const path = `resources/${label}`
    const events = await world.api.get(
      `/api/v1/events?type=secret.written&subject=${encodeURIComponent(path)}`,
    )
    expect(events.body['items']).toMatchObject([
      { type: 'secret.written', subject: { kind: 'Secret', name: path }, data: { path, version: 1 } },
    ])
    const audit = await world.api.get('/api/v1/audit?limit=500')
    const own = Object(audit.body['items']).filter(
      ({ subject }: { subject: { name: string } }) => subject.name === path,
    )
    expect(own).toMatchObject([{ action: 'secrets:written', detail: { version: '1' } }])
    for (const text of [events.text, audit.text, ...world.platform.logLines])
      expect(text).not.toContain('sentinel')
  })

  test.each(SECRET_WRITE_FAULTS.map(({ code, field }, index) => [code, field, index] as const))(
    'rejected as %s at %s leaves nothing in either store',
    async (code, field, index) => {
      const { path = '', body } = SECRET_WRITE_FAULTS[index] ?? {}
      const before = await dumpTenants(world.platform)
      const answer = await world.api.put(path, body)
      expect(answer.body).toMatchObject({ code, field })
      expect(answer.status).toBe(422)
      expect(await dumpTenants(world.platform)).toEqual(before)
      expect(await world.leftIntents()).toEqual([])
      expect(await world.eye.numbersOf('resources/t')).toEqual([])
    },
  )

  test('binds a label to one namespace until its last version and reference are gone', async () => {
    const label = world.newLabel()
    await world.write(label)
    const split = await world.api.put(at(label, 'deployments'), { values: { a: 'b' } })
    expect(split.body).toMatchObject({ code: 'secret_path_namespace_split', field: 'namespace' })
    expect(split.status).toBe(422)
    expect(await world.eye.numbersOf(`deployments/${label}`)).toEqual([])
    expect((await world.api.delete(at(label))).status).toBe(202)
    expect((await world.api.put(at(label, 'deployments'), { values: { a: 'b' } })).status).toBe(200)
  })

  test('does not decode paths: other encodings are no path at all', async () => {
    for (const path of [
      'resources/a%252Fb',
      'resources/%2e%2e',
      'resources%2Fa',
      'resources%2Fa/b',
      'resources/a%00',
    ])
      expect((await world.api.put(`${SECRETS}/${path}`, { values: { a: 'b' } })).codes, path).toEqual([
        'not_found',
      ])
    expect((await world.api.post(`${SECRETS}/resources/a%2Fb`, {})).codes).toEqual(['method_not_allowed'])
    expect((await world.api.get(`${DEPLOYMENTS}/a%2Fb`)).codes).toEqual(['not_found'])
  })
})

describe('the quota of secrets', () => {
  test('is used by the first version of a secret and released with it; other versions use none', async () => {
    const own = world.platform.api(world.platform.globex.token)
    await world.platform
      .api()
      .send('PATCH', `/api/v1/tenants/${world.platform.globex.id}`, { quotas: { secrets: 2 } })
    const put = (label: string) => own.put(at(label), { values: { a: 'b' } })
    const first = await Promise.all(['q1', 'q2', 'q3', 'q4'].map(put))
    const codes = first.map(({ status, codes: [code] }) => code ?? status).sort()
    expect(codes).toEqual([200, 200, 'quota_exceeded', 'quota_exceeded'])
    const kept = ['q1', 'q2', 'q3', 'q4'].filter((_, index) => first[index]?.status === 200)
    expect((await put(kept[0] ?? '')).status).toBe(200)
    expect((await put('q5')).body).toMatchObject({ code: 'quota_exceeded', field: 'quotas.secrets' })
    expect((await own.delete(at(kept[0] ?? ''))).status).toBe(202)
    expect((await put('q5')).status).toBe(200)
    const globex = createStoreEye({ ...(await sharedSecretsStore()), tenant: world.platform.globex.id })
    for (const label of ['q1', 'q2', 'q3', 'q4'].filter((each) => !kept.includes(each)))
      expect(await globex.liveVersions(`resources/${label}`)).toEqual([])
  })
})

describe('reading secrets', () => {
  let roles: { [role: string]: ApiClient }
  const [withMaterial, waiting, unused] = ['read-a', 'read-b', 'read-c']
  beforeAll(async () => {
    const names = ['viewer', 'developer', 'secrets-admin', 'tenant-admin']
    const tokens = names.map(async (role) => [
      role,
      world.platform.api(await makeToken(world.platform.api(), world.platform.acme.id, role)),
    ])
    roles = Object.fromEntries(await Promise.all(tokens))
    await world.write(withMaterial, { user: 'u', password: 'p' })
    await world.write(unused)
    await world.deploy('reader-one', [withMaterial, waiting])
    await world.write(withMaterial, { password: 'p2' })
    await world.deploy('reader-two', [withMaterial])
  })

  test('GET /secrets lists paths with material, versions, pins and references', async () => {
    const listed = await world.listAll(SECRETS)
    expect(listed.map(({ path }) => path)).toEqual(listed.map(({ path }) => path).sort())
    const own = listed.find(({ resource }) => resource === withMaterial)
    const createdAt = expect.any(String)
    expect(own).toEqual({
      path: `resources/${withMaterial}`,
      namespace: 'resources',
      resource: withMaterial,
      versions: [
        { version: 1, createdAt, keys: ['user', 'password'], staged: false, pinnedBy: ['reader-one'] },
        { version: 2, createdAt, keys: ['password'], staged: false, pinnedBy: ['reader-two'] },
      ],
      consumers: ['reader-one', 'reader-two'],
    })
    expect(listed.find(({ resource }) => resource === waiting)).toBeUndefined()
  })

  test('shows key names only to roles that may write', async () => {
    for (const [role, client] of Object.entries(roles)) {
      const [first] = (await world.listAll(SECRETS, client)).filter(
        ({ resource }) => resource === withMaterial,
      )
      const keys = Object(first)['versions'].map((version: { keys?: string[] }) => version.keys)
      const shown = role === 'secrets-admin' || role === 'tenant-admin'
      expect(keys, role).toEqual(shown ? [['user', 'password'], ['password']] : [undefined, undefined])
    }
  })

  test('secrets-admin and tenant-admin may write and delete, other roles may not', async () => {
    for (const [role, client] of Object.entries(roles)) {
      const label = world.newLabel()
      const allowed = role === 'secrets-admin' || role === 'tenant-admin'
      const put = await client.put(at(label), { values: { a: 'b' } })
      const gone = await client.delete(at(label))
      expect([put.status, gone.status], role).toEqual(allowed ? [200, 202] : [403, 403])
      if (!allowed) expect([...put.codes, ...gone.codes]).toEqual(['permission_denied', 'permission_denied'])
    }
  })

  test('GET /secrets/resources lists every referenced path, with or without material', async () => {
    const listed = (await world.listAll(`${SECRETS}/resources`)).filter(({ resource }) =>
      [withMaterial, waiting, unused].includes(String(resource)),
    )
    const shown = { namespace: 'resources' }
    expect(listed).toEqual([
      {
        ...shown,
        path: `resources/${withMaterial}`,
        resource: withMaterial,
        hasMaterial: true,
        consumers: 2,
      },
      { ...shown, path: `resources/${waiting}`, resource: waiting, hasMaterial: false, consumers: 1 },
    ])
  })

  test('consumers lists each entry with the version of its containers, and none for an unknown label', async () => {
    const consumers = (label: string) => world.listAll(`${SECRETS}/resources/${label}/consumers`)
    const entry = { uid: expect.stringMatching(/^dep_/), anchor: 'external' }
    const path = `resources/${withMaterial}`
    expect(await consumers(withMaterial)).toEqual([
      { ...entry, deployment: 'reader-one', secret: 'S0', vault_path: path, version: 1 },
      { ...entry, deployment: 'reader-two', secret: 'S0', vault_path: path, version: 2 },
    ])
    expect(await consumers(waiting)).toMatchObject([
      { deployment: 'reader-one', secret: 'S1', version: null },
    ])
    expect(await consumers('unknown-label')).toEqual([])
    expect(await consumers(unused)).toEqual([])
    await world.write(waiting)
    expect(await consumers(waiting)).toMatchObject([{ version: 1 }])
  })

  test('pages lose and repeat no item, and an invalid cursor is rejected', async () => {
    const allPaths = (await world.listAll(SECRETS)).map(({ path }) => path)
    expect((await world.listAll(SECRETS, world.api, 2)).map(({ path }) => path)).toEqual(allPaths)
    expect(await world.listAll(`${SECRETS}/resources`, world.api, 1)).toEqual(
      await world.listAll(`${SECRETS}/resources`),
    )
    const consumers = `${SECRETS}/resources/${withMaterial}/consumers`
    expect(await world.listAll(consumers, world.api, 1)).toEqual(await world.listAll(consumers))
    for (const list of [SECRETS, `${SECRETS}/resources`, consumers])
      expect((await world.api.get(`${list}?cursor=*`)).codes).toEqual(['query_parameter_invalid'])
  })
})

describe('deleting a secret', () => {
  test('destroys every version, and the numbering continues', async () => {
    const label = world.newLabel()
    await world.deploy(`${label}-old`, [])
    await world.write(label)
    const gone = await world.api.delete(at(label))
    expect(gone.status, gone.text).toBe(202)
    expect(gone.body).toMatchObject({ path: `resources/${label}`, versions: [{ version: 1 }] })
    expect(await world.eye.liveVersions(`resources/${label}`)).toEqual([])
    expect(await world.summaryOf(label)).toBeUndefined()
    expect(await world.leftIntents()).toEqual([])
    expect((await world.write(label)).body).toMatchObject({ version: 2 })
  })

  test('without material is rejected as secret_not_found, for any path', async () => {
    const label = world.newLabel()
    await world.write(label)
    for (const path of [
      'resources/never',
      `deployments/${label}`,
      'elsewhere/x',
      'resources/A_B',
      'resources/a%2Fb',
    ]) {
      const answer = await world.api.delete(`${SECRETS}/${path}`)
      expect(answer.body, path).toMatchObject({ code: 'secret_not_found', field: 'resource' })
      expect(answer.status).toBe(404)
    }
  })

  test('that a deployment refers to is rejected with secret_in_use and its name, and nothing is destroyed', async () => {
    const label = world.newLabel()
    await world.write(label)
    await world.deploy(`${label}-user`, [label])
    const before = await dumpTenants(world.platform)
    const refused = await world.api.delete(at(label))
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({ code: 'secret_in_use', field: 'resource' })
    expect(refused.body['why']).toContain(`${label}-user`)
    expect(await dumpTenants(world.platform)).toEqual(before)
    expect(await world.eye.liveVersions(`resources/${label}`)).toEqual([1])
    expect((await world.api.put(`${DEPLOYMENTS}/${label}-user`, { secrets: [] })).status).toBe(200)
    expect((await world.api.delete(at(label))).status).toBe(202)
  })

  test('that replicas of an earlier revision have, or a rollback would need, is rejected', async () => {
    const label = world.newLabel()
    await world.write(label)
    await world.placeTemplate(`${label}-rolling`, label)
    const refused = await world.api.delete(at(label))
    expect(refused.codes).toEqual(['secret_in_use'])
    expect(refused.body['why']).toContain(`${label}-rolling`)
    await world.write(label)
    expect(await world.versionsOf(label)).toEqual([1, 2])
  })
})
