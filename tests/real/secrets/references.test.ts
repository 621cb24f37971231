// Which deployment uses which version of a secret and refers to which path: pins, shared paths and anchors, on a real
// etcd and a real secrets store.

import { consumerName, consumerOf } from '@holdfast/contract'
import { storeReadyVolume } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiAnswer } from '@holdfast/testkit/platform/api-client'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import {
  alterationsOf,
  type DeployedSecrets,
  deployedSecrets,
  named,
  one,
  withValues,
} from '@holdfast/testkit/secrets/deployed-secrets'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const VOLUME = 'vol_01JD0000000000000000000000'

let platform: Platform
let deployed: DeployedSecrets

beforeAll(async () => {
  platform = await sharedPlatform()
  await storeReadyVolume(platform, platform.acme.id, VOLUME)
  deployed = await deployedSecrets(platform)
})
afterAll(() => platform.stop())

describe('pins', () => {
  test('move to the newest version with a PUT, a scale, a restart and a rollback, and it is reported', async () => {
    const name = named()
    await deployed.create(name, [withValues(name)])
    const steps: (() => Promise<ApiAnswer>)[] = [
      () => deployed.api.put(one(name), { labels: { a: 'b' } }),
      () => deployed.api.put(one(name), { replicas: 1 }),
      () => deployed.api.post(`${one(name)}/restart`, undefined),
      () => deployed.api.post(`${one(name)}/rollback`, { revision: 1 }),
      () => deployed.api.put(one(name), {}),
    ]
    let version = 1
    for (const step of steps) {
      await deployed.writeSecret(name, version + 1)
      const answer = await step()
      expect(answer.status, answer.text).toBe(200)
      expect(alterationsOf(answer, 'secret_version_pinned')).toMatchObject([
        { field: 'secrets[0].vault_path', from: version, to: version + 1 },
      ])
      version += 1
      expect(await deployed.stored(name)).toMatchObject({ revision: version, pins: { [name]: version } })
    }
    const same = await deployed.api.put(one(name), {})
    expect(alterationsOf(same, 'secret_version_pinned')).toEqual([])
    expect((await deployed.stored(name))?.revision).toBe(version)
  })

  test('of a reference without material move to the first version once there is one', async () => {
    const name = named()
    const answer = await deployed.create(name, [{ name: 'DB', vault_path: `deployments/${name}` }])
    expect(answer.status, answer.text).toBe(201)
    expect((await deployed.stored(name))?.pins).toBeUndefined()
    expect(await deployed.credentialOf(name)).toMatchObject({
      versions: [],
      initial: null,
      slot: null,
      consumers: [consumerOf('deployment', name)],
    })
    await deployed.writeSecret(name, 1)
    expect(await deployed.credentialOf(name)).toMatchObject({
      initial: 1,
      consumers: [consumerOf('deployment', name)],
    })
    expect((await deployed.api.put(one(name), {})).body['alterations']).toEqual([])
    expect((await deployed.stored(name))?.revision).toBe(1)
  })
})

describe('references', () => {
  test('of two deployments share a path, whose record goes with the last reference and version', async () => {
    const [first, second, label] = [named(), named(), named()]
    await deployed.create(first, [withValues(label)])
    const answer = await deployed.create(second, [{ name: 'OTHER', vault_path: `deployments/${label}` }])
    expect(answer.status, answer.text).toBe(201)
    expect((await deployed.credentialOf(label))?.consumers.map(consumerName)).toEqual(
      [first, second].toSorted(),
    )
    await deployed.api.put(one(second), { secrets: [] })
    expect((await deployed.credentialOf(label))?.consumers.map(consumerName)).toEqual([first])
    await deployed.api.delete(one(first))
    await expect.poll(async () => (await deployed.credentialOf(label))?.consumers).toEqual([])
    expect(await deployed.credentialOf(label)).toMatchObject({ versions: [{ version: 1 }] })
  })

  test('without a version free the namespace when the last one goes', async () => {
    const [name, label] = [named(), named()]
    await deployed.create(name, [{ name: 'DB', vault_path: `deployments/${label}` }])
    await deployed.api.delete(one(name))
    await expect.poll(() => deployed.credentialOf(label)).toBeUndefined()
    const other = await deployed.create(named(), [{ name: 'DB', vault_path: `resources/${label}` }])
    expect(other.status, other.text).toBe(201)
  })

  test('to a label in a second namespace are rejected for any caller, and nothing is stored', async () => {
    const [name, label] = [named(), named()]
    await deployed.create(name, [withValues(label)])
    const split = { ...withValues(label), vault_path: `resources/${label}` }
    const refusal = await deployed.expectNothingStored(
      () => deployed.create(named(), [split]),
      ['secret_path_namespace_split'],
    )
    expect(refusal.body['field']).toBe('secrets[0].vault_path')
    await deployed.expectNothingStored(
      () => deployed.api.put(one(name), { secrets: [split] }),
      ['secret_path_namespace_split'],
    )
  })
})

describe('anchors', () => {
  const volume = VOLUME
  const mount = { volume, target: '/data', type: 'volume', readOnly: true }

  test('keep an entry from being dropped or repointed while its volume is mounted, and release it with the volume', async () => {
    const name = named()
    const anchored = withValues(name, { anchor: `volume(${volume})` })
    const answer = await deployed.create(name, [anchored], { volumes: [mount] })
    expect(answer.status, answer.text).toBe(201)
    await deployed.expectNothingStored(
      () => deployed.api.put(one(name), { secrets: [] }),
      ['anchored_secret_dropped'],
    )
    const repointed = { ...withValues(`${name}-b`), anchor: `volume(${volume})` }
    const refusal = await deployed.expectNothingStored(
      () => deployed.api.put(one(name), { secrets: [repointed] }),
      ['anchored_secret_repointed'],
    )
    expect(refusal.body['field']).toBe('secrets[0].vault_path')
    await deployed.writeSecret(name, 2)
    const kept = await deployed.api.put(one(name), { labels: { a: 'b' } })
    expect(alterationsOf(kept, 'secret_version_pinned')).toEqual([])
    expect((await deployed.stored(name))?.pins).toEqual({ [name]: 1 })
    const released = await deployed.api.put(one(name), { secrets: [], volumes: [] })
    expect(released.status, released.text).toBe(200)
    expect((await deployed.stored(name))?.pins).toBeUndefined()
  })

  test('material for an anchored entry is stored as a version and moves no pin, even if nothing else is sent', async () => {
    const name = named()
    const anchored = withValues(name, { anchor: `volume(${volume})` })
    await deployed.create(name, [anchored], { volumes: [mount] })
    const answer = await deployed.api.put(one(name), { secrets: [anchored] })
    expect(answer.status, answer.text).toBe(200)
    expect(alterationsOf(answer, 'secret_version_pinned')).toEqual([])
    expect(await deployed.stored(name)).toMatchObject({ revision: 2, pins: { [name]: 1 } })
    expect((await deployed.credentialOf(name))?.versions.map(({ version }) => version)).toEqual([1, 2])
    expect((await deployed.world()).versions[`deployments/${name}`]).toEqual([1, 2])
  })
})
