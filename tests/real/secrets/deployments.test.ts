// Secrets sent with deployments, on a real etcd and a real secrets store: they are staged, pinned and reported, or the
// request is rejected and nothing is stored.

import { consumerOf } from '@holdfast/contract'
import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import { credentials } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { type SecretsStore, sharedSecretsStore } from '@holdfast/testkit'
import type { ApiAnswer } from '@holdfast/testkit/platform/api-client'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import {
  alterationsOf,
  COLLECTION,
  type DeployedSecrets,
  deployedSecrets,
  named,
  one,
  VALUE,
  withValues,
} from '@holdfast/testkit/secrets/deployed-secrets'
import { deploymentDeps } from '@holdfast/testkit/secrets/deployment-deps'
import { createStoreEye, liveVersions, type StoreEye } from '@holdfast/testkit/secrets/store-eye'
import { startUnstripped } from '@holdfast/testkit/secrets/unstripped-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let platform: Platform
let store: SecretsStore
let eye: StoreEye
let deployed: DeployedSecrets

beforeAll(async () => {
  store = await sharedSecretsStore()
  platform = await sharedPlatform()
  eye = createStoreEye({ ...store, tenant: platform.acme.id })
  deployed = await deployedSecrets(platform)
})
afterAll(() => platform.stop())

const warningsOf = ({ body }: ApiAnswer) => (body['warnings'] as { code: string }[]).map(({ code }) => code)

test('a variable that a stored key provides too is rejected, and a later version does not block scaling', async () => {
  const api = platform.api(platform.acme.token)
  const name = named()
  const write = (values: object) => api.put(`/api/v1/secrets/resources/${name}`, { values })
  const secrets = [{ name: 'APP', vault_path: `resources/${name}`, anchor: 'external' }]
  const body = { kind: 'Deployment', name, image: platform.image, replicas: 0, secrets }
  expect((await write({ host: 'db.internal' })).status).toBe(200)
  const refused = await api.post(COLLECTION, { ...body, environment: { APP_host: 'db.example' } })
  expect([refused.status, refused.codes]).toEqual([422, ['environment_key_conflict']])
  expect(refused.body['field']).toBe('environment.APP_host')
  const created = await api.post(COLLECTION, { ...body, environment: { APP_port: '5432' } })
  expect(created.status, created.text).toBe(201)
  expect((await write({ port: '5432' })).status).toBe(200)
  expect((await api.put(`${COLLECTION}/${name}`, { replicas: 1 })).status).toBe(200)
  const again = await api.put(`${COLLECTION}/${name}`, { environment: { APP_port: '5433' } })
  expect(again.codes).toEqual(['environment_key_conflict'])
})

describe('secret material in a deployment', () => {
  test('becomes the first version and is pinned, and neither response nor record contains it', async () => {
    const name = named()
    const answer = await deployed.create(name, [withValues(name)])
    expect(answer.status, answer.text).toBe(201)
    expect(answer.text).not.toContain(VALUE)
    expect(alterationsOf(answer, 'write_time_material_stripped')).toMatchObject([
      { field: 'secrets[0].values', to: null },
    ])
    expect(alterationsOf(answer, 'secret_version_pinned')).toMatchObject([
      { field: 'secrets[0].vault_path', from: null, to: 1 },
    ])
    expect(await deployed.credentialOf(name)).toMatchObject({
      namespace: 'deployments',
      consumers: [consumerOf('deployment', name)],
      initial: 1,
      versions: [{ version: 1, keys: ['PASSWORD'] }],
      slot: expect.any(Number),
    })
    expect((await deployed.stored(name))?.pins).toEqual({ [name]: 1 })
    expect((await deployed.stored(name))?.spec.secrets).toEqual([
      { name: 'DB', vault_path: `deployments/${name}`, anchor: 'external', rotation: 'restart' },
    ])
    expect(await eye.read(`deployments/${name}`, 1)).toEqual({
      PASSWORD: VALUE,
    })
    const { keys } = await deployed.world()
    expect(JSON.stringify(keys)).not.toContain(VALUE)
    expect(Object.keys(keys).filter((key) => key.includes('/intent/'))).toEqual([])
    expect(platform.logLines.join('\n')).not.toContain(VALUE)
  })

  test('is generated for each key, and makes one version together with sent values', async () => {
    const name = named()
    const generate = { keys: ['TOKEN', 'SALT'], length: 40, charset: 'alphanumeric' }
    const answer = await deployed.create(name, [withValues(name, { generate, anchor: 'process' })])
    expect(answer.status, answer.text).toBe(201)
    const document = await eye.read(`deployments/${name}`, 1)
    expect(Object.keys(document).sort()).toEqual(['PASSWORD', 'SALT', 'TOKEN'])
    expect(document['TOKEN']).toMatch(/^[A-Za-z0-9]{40}$/)
    expect(document['TOKEN']).not.toBe(document['SALT'])
    expect(answer.text).not.toContain(document['TOKEN'])
    expect((await deployed.credentialOf(name))?.versions[0]?.keys.toSorted()).toEqual([
      'PASSWORD',
      'SALT',
      'TOKEN',
    ])
  })

  test('is not generated if there is a version already, with a warning', async () => {
    const name = named()
    await deployed.create(name, [withValues(name)])
    const before = (await deployed.world()).versions
    const generate = { keys: ['TOKEN'] }
    const secrets = [{ name: 'DB', vault_path: `deployments/${name}`, generate, anchor: 'process' }]
    const answer = await deployed.api.put(one(name), { secrets })
    expect(answer.status, answer.text).toBe(200)
    expect(warningsOf(answer)).toContain('secret_exists')
    expect((await deployed.world()).versions).toEqual(before)
    expect((await deployed.stored(name))?.pins).toEqual({ [name]: 1 })
  })

  test('is generated with a warning if a template could not carry its characters', async () => {
    const name = named()
    const generate = { keys: ['TOKEN'], length: 32, charset: 'ascii' }
    const secrets = [{ name: 'DB', vault_path: `deployments/${name}`, generate, anchor: 'process' }]
    const composedEnvironment = { URL: `https://user:{{secret.${name}.TOKEN}}@db` }
    const answer = await deployed.create(name, secrets, { composedEnvironment })
    expect(answer.status, answer.text).toBe(201)
    expect(warningsOf(answer)).toContain('charset_unsafe_in_template')
  })

  test('for several labels makes one version each', async () => {
    const name = named()
    const labels = Array.from({ length: 32 }, (_, index) => `${name}-${index}`)
    const secrets = labels.map((label, index) => ({
      name: `S${index}`,
      vault_path: `resources/${label}`,
      generate: { keys: ['K'] },
    }))
    const answer = await deployed.create(name, secrets)
    expect(answer.status, answer.text).toBe(201)
    expect((await deployed.stored(name))?.pins).toEqual(Object.fromEntries(labels.map((label) => [label, 1])))
    const { keys, versions } = await deployed.world()
    for (const label of labels) expect(versions[`resources/${label}`]).toEqual([1])
    const listed = await deployed.api.get('/api/v1/events?type=secret.written&limit=500')
    const written = (listed.body['items'] as { data: unknown }[]).map(({ data }) => data)
    for (const label of labels) expect(written).toContainEqual({ path: `resources/${label}`, version: 1 })
    expect(listed.text).not.toContain('"K"')
    expect(Object.keys(keys).filter((key) => key.includes('/intent/'))).toEqual([])
  })

  test('fits with every list at its limit; an update too large for one transaction is rejected and fits in steps', async () => {
    const name = named()
    const others = Array.from({ length: 16 }, named)
    for (const other of others) await deployed.create(other, [])
    const dependsOn = Object.fromEntries(others.map((other) => [other, 'started']))
    const lists = (turn: string) => ({
      secrets: Array.from({ length: 32 }, (_, index) => ({
        name: `S${index}`,
        vault_path: `resources/${name}-${turn}-${index}`,
        generate: { keys: ['K'] },
      })),
      routes: Array.from({ length: 16 }, (_, index) => ({
        host: `${turn}${index}.${name}.test`,
        path: '/',
        port: 80,
      })),
      dependsOn,
    })
    const { secrets, ...more } = lists('a')
    const answer = await deployed.create(name, secrets, more)
    expect(answer.status, answer.text).toBe(201)
    expect((await deployed.api.post(`${one(name)}/restart`, undefined)).status).toBe(200)
    const next = lists('b')
    const refusal = await deployed.expectNothingStored(
      () => deployed.api.put(one(name), next),
      ['list_too_long'],
    )
    expect(refusal.body['field']).toBe('secrets')
    const half = [
      ...next.secrets.slice(0, 16),
      ...secrets.slice(16).map(({ generate: _made, ...kept }) => kept),
    ]
    for (const step of [{ routes: next.routes }, { secrets: half }, { secrets: next.secrets }]) {
      const stepped = await deployed.api.put(one(name), step)
      expect(stepped.status, stepped.text).toBe(200)
    }
    await deployed.api.delete(one(name))
    await expect.poll(() => deployed.stored(name), { timeout: 20_000 }).toBeUndefined()
  })

  test('in a dry run gets a complete response and stores nothing', async () => {
    const name = named()
    const before = await deployed.world()
    const sent = { kind: 'Deployment', name, image: platform.image, secrets: [withValues(name)] }
    const answer = await deployed.api.post(`${COLLECTION}?dryRun=true`, sent)
    expect(answer.status, answer.text).toBe(200)
    expect(alterationsOf(answer, 'secret_version_pinned')).toMatchObject([{ from: null, to: 1 }])
    expect(alterationsOf(answer, 'write_time_material_stripped')).toHaveLength(1)
    expect(answer.text).not.toContain(VALUE)
    expect(await deployed.world()).toEqual(before)
  })

  test('in a PUT makes the next version, pinned and reported; the old one is destroyed once unused', async () => {
    const name = named()
    await deployed.create(name, [withValues(name)])
    const answer = await deployed.api.put(one(name), {
      secrets: [withValues(name, { values: { PASSWORD: 'another one' } })],
    })
    expect(answer.status, answer.text).toBe(200)
    expect(alterationsOf(answer, 'secret_version_pinned')).toMatchObject([{ from: 1, to: 2 }])
    expect(await deployed.stored(name)).toMatchObject({ revision: 2, pins: { [name]: 2 } })
    expect((await deployed.credentialOf(name))?.versions.map(({ version }) => version)).toEqual([2])
    expect((await deployed.world()).versions[`deployments/${name}`]).toEqual([-1, 2])
  })

  test('may equal a value that the deployment has in plain text', async () => {
    const name = named()
    const host = 'orders.db.internal.example'
    await deployed.create(name, [], { environment: { DB_HOST: host } })
    const secrets = [withValues(name, { values: { host, PASSWORD: VALUE } })]
    const answer = await deployed.api.put(one(name), { secrets })
    expect(answer.status, answer.text).toBe(200)
    expect(await eye.read(`deployments/${name}`, 1)).toEqual({ host, PASSWORD: VALUE })
    const long = 'a-label-that-is-longer-than-a-word'
    const written = await deployed.api.put(`/api/v1/secrets/resources/${long}`, { values: { name: long } })
    expect(written.status, written.text).toBe(200)
  })

  test('in concurrent creates of one name makes one deployment and one version', async () => {
    const name = named()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => deployed.create(name, [withValues(name)])),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)])
    const { versions, keys } = await deployed.world()
    const live = liveVersions(versions)[`deployments/${name}`]
    expect(live).toEqual([(await deployed.stored(name))?.pins?.[name]])
    expect(Object.keys(keys).filter((key) => key.includes('/intent/'))).toEqual([])
  })
})

test('whose value becomes the name of a consumer are stored, and other deployments may use them', async () => {
  const label = named()
  const consumer = `billing-worker-production-${label}`
  expect((await deployed.create(consumer, [withValues(label)])).status).toBe(201)
  const written = await deployed.api.put(`/api/v1/secrets/deployments/${label}`, {
    values: { PASSWORD: consumer },
  })
  expect(written.status, written.text).toBe(200)
  const second = [withValues(label, { values: { PASSWORD: consumer, USER: 'second' } })]
  const other = await deployed.create(named(), second)
  expect(other.status, other.text).toBe(201)
  expect((await deployed.credentialOf(label))?.consumers).toHaveLength(2)
})

test('in one create sent several times with one key makes one deployment and one version', async () => {
  const name = named()
  const generate = { keys: ['TOKEN'] }
  const secrets = [{ name: 'DB', vault_path: `deployments/${name}`, generate, anchor: 'process' }]
  const sent = { kind: 'Deployment', name, image: platform.image, replicas: 0, secrets }
  const send = () => deployed.api.post(COLLECTION, sent, { 'idempotency-key': `key-${name}` })
  const answers = await Promise.all(Array.from({ length: 4 }, send))
  answers.push(await send())
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(answers[0]?.status).toBe(201)
  const { versions, keys } = await deployed.world()
  expect(liveVersions(versions)[`deployments/${name}`]).toEqual([(await deployed.stored(name))?.pins?.[name]])
  expect(Object.keys(keys).filter((key) => key.includes('/intent/'))).toEqual([])
})

describe('a deployment with secrets is rejected', () => {
  test('by rules that read other records before anything is staged', async () => {
    const name = named()
    await deployed.create(name, [withValues(name)])
    await deployed.expectNothingStored(() => deployed.create(name, [withValues(name)]), ['deployment_exists'])
    const absent = { image: `${platform.registryHost}/no/such:1` }
    await deployed.expectNothingStored(
      () => deployed.create(named(), [withValues(named())], absent),
      ['image_not_found'],
    )
  })

  test('if its new version would push one in use out of the store', async () => {
    const [name, other] = [named(), named()]
    await deployed.create(name, [withValues(name)])
    const credential = await deployed.credentialOf(name)
    if (credential === undefined) throw new Error('there is no credential')
    const [first] = credential.versions
    const versions = first === undefined ? [] : [first, { ...first, version: 950 }]
    await platform.server.store.transact((transaction) => {
      transaction.put(inTenant(platform.acme.id as never, credentials, name), { ...credential, versions })
      return { kind: 'commit', result: undefined }
    })
    await platform.server.store.fresh()
    const refusal = await deployed.expectNothingStored(
      () => deployed.create(other, [withValues(name)]),
      ['secret_in_use'],
    )
    expect(refusal.body['field']).toBe('secrets[0].values')
  })

  test('if its key names make a record too long for one transaction', async () => {
    const keys = Array.from({ length: 2_500 }, (_, index) => `K${index}_${'x'.repeat(90)}`)
    const values = Object.fromEntries(keys.map((key) => [key, 'v']))
    await deployed.expectNothingStored(
      () => deployed.create(named(), [withValues(named(), { values })]),
      ['body_too_large'],
    )
  })

  test('if a developer sends material instead of a reference', async () => {
    const token = await makeToken(platform.api(), platform.acme.id, 'developer')
    const [name, label] = [named(), named()]
    const send = (secrets: readonly object[]) =>
      platform.api(token).post(COLLECTION, { kind: 'Deployment', name, image: platform.image, secrets })
    const refusal = await deployed.expectNothingStored(() => send([withValues(label)]), ['permission_denied'])
    expect(refusal.body['field']).toBe('secrets[0].values')
    expect((await send([{ name: 'DB', vault_path: `deployments/${label}` }])).status).toBe(201)
  })

  test('while the secrets store is sealed if it has material, stores nothing, and references are accepted', async () => {
    const name = named()
    await store.seal()
    try {
      const before = await deployed.storedKeys()
      const refusal = await deployed.create(name, [withValues(name)])
      expect([refusal.status, ...refusal.codes]).toEqual([503, 'secrets_store_unavailable'])
      expect(await deployed.storedKeys()).toEqual(before)
      const dry = { kind: 'Deployment', name, image: platform.image, secrets: [withValues(name)] }
      expect((await deployed.api.post(`${COLLECTION}?dryRun=true`, dry)).codes).toEqual([
        'secrets_store_unavailable',
      ])
      expect((await deployed.create(name, [{ name: 'DB', vault_path: `deployments/${name}` }])).status).toBe(
        201,
      )
    } finally {
      await store.unseal()
    }
    expect(await eye.numbersOf(`deployments/${name}`)).toEqual([])
  })

  test('over the quota of secrets, which counts versions and not references', async () => {
    const id = platform.globex.id
    const globex = platform.api(platform.globex.token)
    await platform.api().send('PATCH', `/api/v1/tenants/${id}`, { quotas: { secrets: 2 } })
    const send = (name: string, secrets: readonly object[]) =>
      globex.post(COLLECTION, { kind: 'Deployment', name, image: platform.image, replicas: 0, secrets })
    const reference = { name: 'R', vault_path: 'deployments/only-referred' }
    expect((await send('one', [withValues('one'), reference])).status).toBe(201)
    const two = [withValues('two'), { ...withValues('three'), name: 'THREE' }]
    const other = createStoreEye({ ...store, tenant: id })
    const before = await other.everything()
    const refusal = await send('two', two)
    expect(refusal.codes, refusal.text).toEqual(['quota_exceeded'])
    expect(refusal.body['field']).toBe('quotas.secrets')
    expect(await other.everything()).toEqual(before)
    expect((await send('two', two.slice(0, 1))).status).toBe(201)
    const again = await globex.put(one('two'), {
      secrets: [withValues('two', { values: { PASSWORD: 'b' } })],
    })
    expect(again.status, again.text).toBe(200)
    expect((await send('four', [withValues('four')])).codes).toEqual(['quota_exceeded'])
  })
})

describe('a server that fails to strip material from a record', () => {
  test.each([
    ['values', { PASSWORD: VALUE }, 'secret_material_would_persist'],
    ['generate', { keys: ['TOKEN'] }, 'secret_generate_would_persist'],
  ])('stops %s before they are stored, and nothing is staged', async (field, sent, code) => {
    const name = named()
    await deployed.create(name, [])
    const secrets = connectSecretsWriter(platform.config)
    const unstripped = await startUnstripped(deploymentDeps(platform.server.store, secrets))
    const faulty = unstripped.api(platform.acme.token)
    const entry = { name: 'DB', vault_path: `deployments/${name}`, [field]: sent, anchor: 'process' }
    const body = { kind: 'Deployment', name: named(), image: 'registry.test/web:1.0', secrets: [entry] }
    for (const send of [
      () => faulty.post(COLLECTION, body),
      () => faulty.put(one(name), { secrets: [entry] }),
    ]) {
      const refusal = await deployed.expectNothingStored(send, [code])
      expect([refusal.status, refusal.body['field']]).toEqual([500, `secrets[0].${field}`])
      expect(refusal.text).not.toContain(VALUE)
    }
    await unstripped.stop()
  })
})
