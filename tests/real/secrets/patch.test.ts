// Keys of a secret on a real etcd and a real secrets store: writes that drop keys, and patches that keep them.

import { readFileSync } from 'node:fs'
import { sharedSecretsStore } from '@holdfast/testkit'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import {
  at,
  DEPLOYMENTS,
  type SecretsWorld,
  startSecretsWorld,
} from '@holdfast/testkit/secrets/secrets-world'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: SecretsWorld

beforeAll(async () => {
  world = await startSecretsWorld()
})
afterAll(() => world.platform.stop())

describe('keys that a write leaves out', () => {
  test('are named in a warning, also in a dry run and in a deployment that sends values', async () => {
    const label = world.newLabel()
    await world.write(label, { user: 'orders', password: 'sentinel value', host: 'db' })
    const body = { values: { user: 'orders' } }
    const why = expect.stringContaining('The keys password, host of version 1 are not sent')
    const warning = { code: 'secret_keys_dropped', field: 'values', why }
    const dry = await world.api.put(`${at(label)}?dryRun=true`, body)
    expect(dry.body).toMatchObject({ warnings: [warning], plan: { result: { warnings: [warning] } } })
    const secrets = [{ name: 'DB', vault_path: `resources/${label}`, ...body }]
    const { image } = world.platform
    const deployment = { kind: 'Deployment', name: label, image, replicas: 0, secrets }
    const deployed = await world.api.post(`${DEPLOYMENTS}?dryRun=true`, deployment)
    expect(deployed.body, deployed.text).toMatchObject({
      warnings: [{ ...warning, field: 'secrets[0].values' }],
    })
    const written = await world.api.put(at(label), body)
    expect(written.body).toMatchObject({ version: 2, warnings: [warning] })
    expect((await world.api.put(at(label), body)).body).toMatchObject({ version: 3, warnings: [] })
  })
})

describe('patching a secret', () => {
  const patch = (label: string, body: object, query = '', headers = {}) =>
    world.api.send('PATCH', `${at(label)}${query}`, body, headers)

  test('adds and changes keys, keeps the others, and records an event and an audit entry', async () => {
    const label = world.newLabel()
    await world.write(label, { user: 'orders', password: 'p-one' })
    const added = await patch(label, { values: { password: 'sentinel value' }, generate: { keys: ['salt'] } })
    expect(added.body, added.text).toMatchObject({
      version: 2,
      keys: ['user', 'password', 'salt'],
      warnings: [],
    })
    expect(added.headers.get('etag')).toBe('"2"')
    expect(await world.eye.read(`resources/${label}`, 2)).toMatchObject({
      user: 'orders',
      password: 'sentinel value',
      salt: expect.stringMatching(/^.{43}$/),
    })
    const path = `resources/${label}`
    const events = await world.api.get(`/api/v1/events?subject=${encodeURIComponent(path)}`)
    expect(events.body['items']).toMatchObject([{ data: { version: 1 } }, { data: { version: 2 } }])
    const audit = await world.api.get('/api/v1/audit?limit=500')
    expect(audit.text).toContain(path)
    for (const text of [added.text, events.text, audit.text, ...world.platform.logLines])
      expect(text).not.toContain('sentinel value')
    expect(await world.leftIntents()).toEqual([])
  })

  test('reads nothing: the store answers no read of the secret', async () => {
    const label = world.newLabel()
    await world.write(label, { user: 'orders' })
    const { auditLogPath } = await sharedSecretsStore()
    // Other files use the same store and the same labels, for other tenants.
    const path = `kv-${world.platform.acme.id}/data/resources/${label}"`
    const entries = () =>
      readFileSync(auditLogPath, 'utf8')
        .split('\n')
        .filter((line) => line.includes(path))
    await patch(label, { values: { password: 'p-one' } })
    expect(entries().some((line) => line.includes('"operation":"patch"'))).toBe(true)
    expect(entries().filter((line) => line.includes('"operation":"read"'))).toEqual([])
  })

  test('as a dry run names the next version and stores nothing', async () => {
    const label = world.newLabel()
    await world.write(label, { user: 'orders' })
    const before = await dumpTenants(world.platform)
    const planned = await patch(label, { values: { password: 'p' } }, '?dryRun=true')
    expect(planned.body['plan'], planned.text).toMatchObject({
      result: { version: 2, keys: ['user', 'password'] },
    })
    expect(await dumpTenants(world.platform)).toEqual(before)
    expect(await world.eye.numbersOf(`resources/${label}`)).toHaveLength(1)
  })

  test('compares If-Match, and rejects a path without material and a document over the limit', async () => {
    const label = world.newLabel()
    const body = { values: { password: 'p-one' } }
    expect((await patch(label, body)).body).toMatchObject({ code: 'secret_not_found', field: 'resource' })
    await world.write(label, { user: 'orders' })
    expect((await patch(label, body, '', { 'if-match': '"7"' })).codes).toEqual(['revision_conflict'])
    expect((await patch(label, body, '', { 'if-match': '"1"' })).status).toBe(200)
    const large = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`k${n}`, 'x'.repeat(65_500)]))
    expect((await patch(label, { values: large })).status).toBe(200)
    const beyond = await patch(label, { values: { a: 'x'.repeat(65_000), b: 'y' } })
    expect(beyond.body).toMatchObject({ code: 'secret_value_too_long', field: 'values' })
    // A refusal before the write leaves the newest version in place, so that the next patch works.
    expect((await patch(label, body)).status).toBe(200)
    expect(await world.leftIntents()).toEqual([])
  })

  test('by several writers at once loses no key', async () => {
    const label = world.newLabel()
    await world.write(label, { user: 'orders' })
    const keys = Array.from({ length: 8 }, (_, n) => `k${n}`)
    const patched = await Promise.all(keys.map((key) => patch(label, { values: { [key]: key } })))
    expect(patched.map(({ status }) => status)).toEqual(keys.map(() => 200))
    const newest = Math.max(...(await world.versionsOf(label)))
    const held = await world.eye.read(`resources/${label}`, newest)
    expect(Object.keys(held).sort()).toEqual([...keys, 'user'])
    expect(await world.leftIntents()).toEqual([])
  })

  test('is rejected while a rotation has staged the newest version, and after it was aborted', async () => {
    const label = world.newLabel()
    await world.write(label, { user: 'orders' })
    await world.deploy(label, [label])
    const rotate = (body: object) => world.api.post(`${DEPLOYMENTS}/${label}/secrets/rotate`, body)
    await rotate({ phase: 'stage', values: { user: 'other' } })
    const staged = await patch(label, { values: { a: 'b' } })
    expect([staged.status, staged.codes]).toEqual([409, ['secret_patch_base_missing']])
    expect(staged.text).toContain('a rotation has staged it')
    await rotate({ phase: 'abort' })
    const aborted = await patch(label, { values: { a: 'b' } })
    expect([aborted.status, aborted.codes]).toEqual([409, ['secret_patch_base_missing']])
    expect((await world.write(label, { user: 'orders' })).status).toBe(200)
    expect((await patch(label, { values: { a: 'b' } })).body).toMatchObject({ keys: ['user', 'a'] })
    expect(await world.leftIntents()).toEqual([])
  })
})
