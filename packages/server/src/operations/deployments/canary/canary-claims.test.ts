// Tests that a volume which only a running canary mounts is kept.

import { asVolumeId, type TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  clock,
  nodeId,
  openOver,
  putTenant,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { aCanary, aDeployment, someTenant } from '../../../store/records.fixture.ts'
import { deployments, type StoredVolume, tokens, volumes } from '../../../store/records.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import { deleteVolume } from '../../volumes/delete-volume.ts'
import { isAnchored } from '../../volumes/volume-users.ts'
import { volumeView } from '../../volumes/volume-view.ts'
import { storeCanary } from './stage-canary.ts'

const TOKEN = 'tok_1' as TokenId
const TIME = '2026-01-01T00:00:00.000Z'
const ID = asVolumeId('vol_01JCPZ0000000000000000000A')
const volume: StoredVolume = {
  ...{ v: 1, id: ID, spec: { name: 'data', class: 'replicated', sizeBytes: 1, replicas: 0 }, phase: 'Ready' },
  ...{ reason: null, primary: { nodeId, epoch: 1, since: TIME }, provisioned: true, slot: 0 },
  ...{ copies: [{ nodeId, role: 'primary', state: 'current' }], revision: 1, createdAt: TIME },
}
const canary = aCanary({
  volumes: [{ volume: ID, target: '/data', type: 'volume', readOnly: true }],
  secrets: [{ name: 'DB', vault_path: 'deployments/db', anchor: `volume(${ID})`, rotation: 'restart' }],
})

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A tenant with the volume and a deployment that does not mount it. */
async function world() {
  const store = await openOver(createMemoryKeyspace())
  ends.push(() => store.close())
  const tenant = someTenant()
  const web = aDeployment('web')
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, TOKEN), {
      ...{ v: 1, id: TOKEN, name: 't', role: 'developer', expiresAt: '', createdAt: '' },
      ...{ tenant, secretHash: '' },
    })
    transaction.put(inTenant(tenant, volumes, ID), volume)
    transaction.put(inTenant(tenant, deployments, 'web'), web)
  })
  await store.fresh()
  const caller: Caller = {
    ...{ tenant, token: TOKEN, role: 'developer', onBehalf: false, requestId: 'r' },
  }
  const remove = () => deleteVolume({ store, clock }, caller, ID, undefined)
  return { store, tenant, web, caller, remove }
}

test('a volume that only a running canary mounts is in use', async () => {
  const { store, tenant, web, remove } = await world()
  const put = (phase: typeof canary.phase) =>
    write(store, (transaction) =>
      transaction.put(inTenant(tenant, deployments, 'web'), { ...web, canary: { ...canary, phase } }),
    )
  await put('observing')
  await store.fresh()
  expect(volumeView(store, tenant, volume).consumers).toEqual(['web'])
  expect(isAnchored(store, tenant, ID)).toBe(true)
  expect(await remove()).toMatchObject({ rejections: [{ code: 'volume_in_use' }] })
  await put('aborted')
  await store.fresh()
  expect(isAnchored(store, tenant, ID)).toBe(false)
  expect(await remove()).toMatchObject({ ok: true })
})

test('a canary that starts while its volume is deleted either keeps the volume or is rejected', async () => {
  const { store, tenant, web, caller, remove } = await world()
  const start = store.transact<boolean>((transaction) => {
    const stored = transaction.get(inTenant(tenant, volumes, ID))
    if (stored === undefined || stored.phase === 'Deleting') return { kind: 'abort', result: false }
    storeCanary({ clock }, transaction, caller, web, { ...web, canary }, { newVersions: [] })
    return { kind: 'commit', result: true }
  })
  const [hasStarted, removed] = await Promise.all([start, remove()])
  expect(hasStarted).not.toBe(removed.ok)
})
