// Tests that capacity reserved for a plan is released when the plan is not written.

import { asOwner, ownerOf, type TenantId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import type { LineCall } from '@holdfast/simulation/memory/line'
import {
  clock,
  openOver,
  putPlacement,
  putTenant,
  uidOf,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { aDeployment, aSpec, someTenant } from '../../store/records.fixture.ts'
import { deployments } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, placementAt } from '../../store/transaction.ts'
import { startPlacing } from './place-deployments.ts'

const tenant: TenantId = someTenant()
const PATIENCE = { timeout: 15_000 }
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Stores deployments that each request the whole capacity of a node. */
const putDeployments = (store: Store, ...names: string[]): Promise<void> =>
  write(store, (transaction) => {
    for (const name of names) {
      const spec = { ...aSpec(name), resources: { cpuMillis: 1_000, memoryBytes: 1_000 } }
      const stored = aDeployment(name, { uid: uidOf(name), digest: `sha256:${'d'.repeat(64)}`, spec })
      transaction.put(inTenant(tenant, deployments, name), stored)
    }
  })

function startOn(store: Store) {
  const placing = startPlacing({
    store,
    clock,
    quotas: { limit: () => 100 },
    residency: { enforcement: true, regions: {} },
    leadership: {
      owns: () => true,
      fenced: (_tenant, decide) => store.transact(decide),
      subscribe: () => () => {},
    },
    random: () => 0.5,
    onError: () => {},
  })
  ends.push(() => store.close())
  ends.push(() => placing.stop())
  return placing
}

/** Runs the controller while the deployment `web` is deleted during the write of its first plan. */
async function withoutWeb() {
  const keyspace = createMemoryKeyspace()
  const user = await openOver(keyspace)
  ends.push(() => user.close())
  await write(user, (transaction) => putTenant(transaction, tenant))
  const key = user.keyspace.tenantKey(tenant, deployments.folder, 'web')
  let isGone = false
  const delayMs = (call: LineCall): number => {
    if (call === 'transact' && !isGone) {
      isGone = true
      keyspace.transact({ compares: [], success: [{ kind: 'delete', key }], failure: [] })
    }
    return 0
  }
  const placing = startOn(await openOver(keyspace, { delayMs }))
  return {
    user,
    isOver: () => isGone && placing.pending === 0,
    assigned: () =>
      user.get(placementAt(tenant, ownerOf('deployment', uidOf('other'))))?.record.assignments.length,
  }
}

test('a deployment that is deleted before its first replica is placed releases its capacity', async () => {
  const { user, isOver, assigned } = await withoutWeb()
  await putDeployments(user, 'web')
  await expect.poll(isOver, PATIENCE).toBe(true)
  await putDeployments(user, 'other')
  await expect.poll(assigned, PATIENCE).toBe(1)
})

test('a deployment that was refused because of a deleted one is placed at once', async () => {
  const { user, assigned } = await withoutWeb()
  await putDeployments(user, 'web', 'other')
  await expect.poll(assigned, PATIENCE).toBe(1)
})

test('an owner of an unknown kind keeps its placement and its capacity until the placement is deleted', async () => {
  const keyspace = createMemoryKeyspace()
  const user = await openOver(keyspace)
  ends.push(() => user.close())
  const owner = asOwner('cron/cron_1')
  const resources = { cpuMillis: 1_000, memoryBytes: 1_000 }
  await write(user, (transaction) => {
    putTenant(transaction, tenant)
    putPlacement(transaction, tenant, 'other', { owner, resources })
  })
  await user.fresh()
  const before = user.get(placementAt(tenant, owner))?.modRevision
  const placing = startOn(await openOver(keyspace))
  await putDeployments(user, 'other')
  const own = () => user.get(placementAt(tenant, ownerOf('deployment', uidOf('other'))))?.record
  await expect.poll(() => own()?.shortfall?.reason, PATIENCE).toBe('unschedulable')
  await expect.poll(() => placing.pending, PATIENCE).toBe(0)
  expect(user.get(placementAt(tenant, owner))?.modRevision).toBe(before)
  await write(user, (transaction) => transaction.delete(placementAt(tenant, owner)))
  await expect.poll(() => own()?.assignments.length, PATIENCE).toBe(1)
})
