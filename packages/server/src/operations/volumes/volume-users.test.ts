// Tests that the volumes of a job move together and are anchored by its secrets, as those of a deployment are.

import { asVolumeId, consumerOf, ownerOf, type VolumeId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { nodeId, openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { aDeployment, aJob, aSpec, someTenant } from '../../store/records.fixture.ts'
import {
  credentials,
  deployments,
  jobs,
  placements,
  type StoredCredential,
  type StoredJob,
  type StoredPlacement,
  type StoredVolume,
  volumes,
  volumeWriters,
} from '../../store/records.ts'
import { inTenant, placementAt } from '../../store/transaction.ts'
import { gatherRotation } from '../secrets/rotation/rotation-guards.ts'
import { compareGroup, promotionGroup } from './promotion/promotion-group.ts'
import { groupOf } from './volume-group.ts'
import { situationOf } from './volume-situation.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const [ONE, TWO] = ['A', 'B'].map((last) => asVolumeId(`vol_01JCPZ0000000000000000000${last}`)) as [
  VolumeId,
  VolumeId,
]
const OWNER = ownerOf('job', aJob().id)
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const volume = (id: VolumeId): StoredVolume => ({
  ...{ v: 1, id, spec: { name: id, class: 'replicated', sizeBytes: 1, replicas: 0 }, phase: 'Ready' },
  ...{ reason: null, primary: { nodeId, epoch: 1, since: TIME }, provisioned: true, slot: 0 },
  ...{ copies: [{ nodeId, role: 'primary', state: 'current' }], revision: 1, createdAt: TIME },
})
const mounts = [ONE, TWO].map((id) => ({
  ...{ volume: id, target: `/${id}`, type: 'volume' as const, readOnly: false },
}))
const secrets = [{ name: 'DB', vault_path: 'deployments/db', anchor: `volume(${ONE})`, rotation: 'restart' }]
const credential: StoredCredential = {
  ...{ v: 1, label: 'db', namespace: 'deployments', consumers: [consumerOf('job', aJob().id)] },
  ...{ versions: [{ version: 1, keys: ['a'], createdAt: TIME }], initial: 1, slot: null },
}

/** A tenant with two volumes on one node, both claimed by the job. */
async function world(job: StoredJob) {
  const store = await openOver(createMemoryKeyspace())
  ends.push(() => store.close())
  const tenant = someTenant()
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(inTenant(tenant, jobs, job.id), job)
    transaction.put(inTenant(tenant, credentials, 'db'), credential)
    for (const id of [ONE, TWO]) {
      transaction.put(inTenant(tenant, volumes, id), volume(id))
      transaction.put(inTenant(tenant, volumeWriters, id), {
        ...{ v: 1, volume: id, owner: OWNER, name: 'migrate', epoch: 1, state: 'bound' },
      })
    }
  })
  await store.fresh()
  const read = <T>(address: Parameters<typeof store.get<T>>[0]) => store.get(address)?.record
  const deps = { store, residency: { enforcement: true, regions: {} }, read, now: 0 }
  return { store, tenant, deps }
}

const idsOf = (group: readonly { readonly volume: StoredVolume }[]) => group.map((each) => each.volume.id)

test('the volumes that one job writes move and are promoted together', async () => {
  const { deps, tenant } = await world(aJob({ volumes: mounts }))
  expect(idsOf(groupOf(deps, tenant, volume(ONE)))).toEqual([ONE, TWO])
  const group = promotionGroup(deps, tenant, volume(TWO))
  expect(idsOf(group)).toEqual([ONE, TWO])
  // The agent of the node cannot run jobs.
  expect(group.map(({ accepts }) => accepts(nodeId))).toEqual([false, false])
})

test('a promotion compares the job that writes the volumes', async () => {
  const { deps, store, tenant } = await world(aJob({ volumes: mounts }))
  const compared = new Set<string>()
  await store.transact((transaction) => {
    compareGroup(
      { ...transaction, get: ({ collection, id }) => void compared.add(`${collection.folder} ${id}`) },
      deps,
      tenant,
      [ONE].map(volume),
    )
    return { kind: 'abort', result: undefined }
  })
  expect([...compared]).toEqual([
    `${volumeWriters.folder} ${ONE}`,
    `${jobs.folder} ${aJob().id}`,
    `${placements.folder} ${OWNER}`,
  ])
})

test('volumes of a job that has ended and left no container move alone', async () => {
  const { deps, tenant } = await world(aJob({}, { phase: 'succeeded' }))
  expect(idsOf(groupOf(deps, tenant, volume(ONE)))).toEqual([ONE])
})

test.each([
  ['pending', true],
  ['succeeded', false],
] as const)('the anchor of a job that is %s counts: %s', async (phase, expected) => {
  const { deps, store, tenant } = await world(aJob({ secrets }, { phase }))
  expect(situationOf(deps, tenant, volume(ONE)).isAnchored()).toBe(expected)
  expect(situationOf(deps, tenant, volume(TWO)).isAnchored()).toBe(false)
  if (expected) expect(gatherRotation(store, tenant, credential).volumes?.map(({ id }) => id)).toEqual([ONE])
})

const LAST_GOOD = 'a'.repeat(64)

/** A deployment whose second revision no longer mounts the second volume. */
async function updated(isOver: boolean) {
  const { store, tenant, deps } = await world(aJob({}, { phase: 'succeeded' }))
  const web = aDeployment('web', { spec: { ...aSpec('web'), volumes: mounts.slice(0, 1) } })
  const owner = ownerOf('deployment', web.uid)
  const rollout: NonNullable<StoredPlacement['rollout']> = {
    ...{ revision: 2, templateHash: 'b'.repeat(64), since: 2, startedAt: TIME, progressedAt: TIME, ready: 0 },
    ...{ state: 'progressing', replaces: true },
  }
  await write(store, (transaction) => {
    transaction.put(inTenant(tenant, deployments, 'web'), web)
    transaction.put(placementAt(tenant, owner), {
      ...{ v: 1, owner, name: 'web', revision: 2, everAssigned: true, assignments: [] },
      ...{ reportedRefusals: '', reportedPhase: '', lastGood: { revision: 1, templateHash: LAST_GOOD } },
      templates: {
        [LAST_GOOD]: { image: 'i', name: 'web', environment: {}, labels: {}, stopGracePeriod: '1s', mounts },
      },
      ...(isOver ? {} : { rollout }),
    })
    for (const id of [ONE, TWO])
      transaction.put(inTenant(tenant, volumeWriters, id), {
        ...{ v: 1, volume: id, owner, name: 'web', epoch: 1, state: 'bound' },
      })
  })
  await store.fresh()
  return { deps, tenant }
}

test.each([
  ['while the update can be rolled back', false, [ONE, TWO]],
  ['once the update is over', true, [TWO]],
])('a volume that an update no longer mounts moves with the others: %s', async (_about, isOver, expected) => {
  const { deps, tenant } = await updated(isOver)
  expect(idsOf(groupOf(deps, tenant, volume(TWO)))).toEqual(expected)
})
