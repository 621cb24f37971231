// Secret versions under concurrent requests and failures: which versions are kept, which request wins, and the state
// after the secrets store was unavailable.

import { sharedSecretsStore, startSecretsStore, waitUntil } from '@holdfast/testkit'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { startReplica } from '@holdfast/testkit/platform/start-platform'
import {
  at,
  DEPLOYMENTS,
  SECRETS,
  type SecretsWorld,
  startSecretsWorld,
  sweepOnce,
} from '@holdfast/testkit/secrets/secrets-world'
import { createStoreEye } from '@holdfast/testkit/secrets/store-eye'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: SecretsWorld

beforeAll(async () => {
  world = await startSecretsWorld()
})
afterAll(() => world.platform.stop())

describe('secret versions', () => {
  test('of thirty writes: the pinned and the newest version stay, the others are destroyed', async () => {
    const label = world.newLabel()
    await world.write(label, { password: 'the pinned one' })
    await world.deploy(`${label}-user`, [label])
    for (let round = 0; round < 30; round += 1)
      expect((await world.write(label, { password: `round ${round}` })).status).toBe(200)
    expect(await world.versionsOf(label)).toEqual([1, 31])
    expect(await world.eye.liveVersions(`resources/${label}`)).toEqual([1, 31])
    expect(await world.eye.read(`resources/${label}`, 1)).toEqual({ password: 'the pinned one' })
    expect(await world.eye.numbersOf(`resources/${label}`)).toHaveLength(31)
    expect((await world.api.post(`${DEPLOYMENTS}/${label}-user/restart`, undefined)).status).toBe(200)
    await world.write(label)
    expect(await world.versionsOf(label)).toEqual([31, 32])
    expect(await world.leftIntents()).toEqual([])
  })

  test('a write that would push a version in use out of the store is rejected', {
    timeout: 600_000,
  }, async () => {
    const label = world.newLabel()
    await world.write(label)
    await world.deploy(`${label}-user`, [label])
    await world.listNumber(label, 900)
    const before = await dumpTenants(world.platform)
    const refused = await world.write(label)
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({ code: 'secret_in_use', field: 'values' })
    expect(refused.body['why']).toContain(`${label}-user`)
    expect(await dumpTenants(world.platform)).toEqual(before)
    expect(await world.eye.read(`resources/${label}`, 1)).toEqual({ password: 'first' })
    expect(await world.eye.numbersOf(`resources/${label}`)).toEqual([1])
    expect((await world.api.put(`${DEPLOYMENTS}/${label}-user`, { secrets: [] })).status).toBe(200)
    // The secrets store lacks the numbers up to 900, so a write uses them up first, in several attempts if it must.
    await waitUntil(async () => (await world.write(label)).status === 200, {
      what: 'a write is accepted',
      timeoutMs: 500_000,
    })
    expect(await world.versionsOf(label)).toContain(901)
  })
})

describe('concurrent secret operations', () => {
  /** Checks that the listed versions are those in the secrets store, and that no deployment pins a missing version. */
  async function expectSound(label: string): Promise<void> {
    await world.sweep()
    const live = await world.eye.liveVersions(`resources/${label}`)
    expect(await world.versionsOf(label)).toEqual(live)
    const consumers = await world.listAll(`${SECRETS}/resources/${label}/consumers`)
    for (const { version } of consumers) if (version !== null) expect(live).toContain(version)
    expect(await world.leftIntents()).toEqual([])
  }

  test('writers of one path on two servers each get a number, and one of them is the newest', async () => {
    const label = world.newLabel()
    const replica = await startReplica(world.platform)
    const clients = [world.api, replica.api(world.platform.acme.token)]
    const writes = Array.from({ length: 16 }, (_, n) =>
      clients[n % 2]?.put(at(label), { values: { password: `writer ${n}` } }),
    )
    const answers = await Promise.all(writes)
    expect(answers.map((answer) => answer?.status)).toEqual(Array(16).fill(200))
    const numbers = answers.map((answer) => Number(answer?.body['version']))
    expect(new Set(numbers).size).toBe(16)
    await expectSound(label)
    const newest = Math.max(...numbers)
    expect((await world.versionsOf(label)).at(-1)).toBe(newest)
    const winner = numbers.indexOf(newest)
    expect(await world.eye.read(`resources/${label}`, newest)).toEqual({ password: `writer ${winner}` })
    await replica.stop()
  })

  test('a write concurrent with a delete ends in one consistent state', async () => {
    const label = world.newLabel()
    for (let round = 0; round < 10; round += 1) {
      await world.write(label)
      const [written, gone] = await Promise.all([world.write(label), world.api.delete(at(label))])
      expect([200, 202]).toEqual([written.status, gone.status])
      await expectSound(label)
    }
  })

  test('a delete concurrent with a deployment that starts to refer ends in one consistent state', async () => {
    const seen = new Set<number>()
    for (let round = 0; round < 10; round += 1) {
      const label = world.newLabel()
      await world.write(label)
      const [gone] = await Promise.all([world.api.delete(at(label)), world.deploy(`${label}-late`, [label])])
      expect([202, 409]).toContain(gone.status)
      seen.add(gone.status)
      await expectSound(label)
      expect(await world.versionsOf(label)).toEqual(gone.status === 202 ? [] : [1])
    }
    console.log(`delete against deployment ended with ${[...seen].join(' and ')}`)
  })
})

describe('the secrets store', () => {
  test('accepts no write while sealed, and a delete is completed after it is unsealed', async () => {
    const store = await startSecretsStore()
    const other = await ownPlatform({ secretsStore: store })
    const own = other.api(other.acme.token)
    const look = createStoreEye({ ...store, tenant: other.acme.id })
    await own.put(at('x'), { values: { a: 'b' } })
    await store.seal()
    const before = await dumpTenants(other)
    const refused = await own.put(at('x'), { values: { a: 'c' } })
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ code: 'secrets_store_unavailable', field: 'secretsStore' })
    expect(await dumpTenants(other)).toEqual(before)
    expect((await own.delete(at('x'))).status).toBe(202)
    expect((await own.get(SECRETS)).body['items']).toEqual([])
    await store.unseal()
    expect(await look.liveVersions('resources/x')).toEqual([1])
    await sweepOnce(other)
    expect(await look.liveVersions('resources/x')).toEqual([])
    await other.stop()
    await store.stop()
  })

  test('lets the identity of the API read no data at all', async () => {
    const { address } = await sharedSecretsStore()
    const { api: identity } = world.platform.config.secretsStore
    const answer = await fetch(`${address}/v1/auth/approle/login`, {
      method: 'POST',
      body: JSON.stringify({ role_id: identity?.roleId, secret_id: identity?.secretId.reveal() }),
    })
    const { auth } = (await answer.json()) as { auth: { client_token: string } }
    const listed = await world.listAll(SECRETS)
    expect(listed.length).toBeGreaterThan(3)
    for (const { path, versions } of listed) {
      const [{ version }] = versions as [{ version: number }]
      for (const data of [`data/${path}`, `data/${path}?version=${version}`, `subkeys/${path}`])
        expect(await world.eye.statusAs(auth.client_token, data)).toBe(403)
    }
  })
})
