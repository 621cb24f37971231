// Tests that a tenant's removal relies on the stored records and not on a cache that may be outdated.

import { asOwner, ownerOf, type TenantId } from '@holdfast/contract'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import type { LineOptions } from '@holdfast/simulation/memory/line'
import {
  clock,
  openOver,
  putPlacement,
  putTenant,
  uidOf,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { aDeployment, someTenant } from '../store/records.fixture.ts'
import { deployments, removals, tenants } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant, placementAt, type Transaction } from '../store/transaction.ts'
import { finishRemovals } from './finish-removals.ts'

const tenant: TenantId = someTenant()
const stores: Store[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
})

async function opened(keyspace: MemoryKeyspace, line?: LineOptions): Promise<Store> {
  const store = await openOver(keyspace, line)
  stores.push(store)
  return store
}

function markForRemoval(transaction: Transaction): void {
  putTenant(transaction, tenant, true)
  transaction.put(globally(removals, tenant), { v: 1, tenant, name: null })
  transaction.put(inTenant(tenant, deployments, 'web'), aDeployment('web', { uid: uidOf('web') }))
}

test('waits for a replica that was placed while its tenant was being deleted', async () => {
  const keyspace = createMemoryKeyspace()
  const controller = await opened(keyspace)
  await write(controller, markForRemoval)
  const late = await opened(keyspace, { delayMs: (call) => (call === 'watch' ? 50 : 0) })
  await write(controller, (transaction) => putPlacement(transaction, tenant, 'web'))
  let destroyed = 0
  const removeTenantSecrets = async () => {
    destroyed += 1
    return true
  }
  await finishRemovals({ store: late, clock, removeTenantSecrets })
  await controller.fresh()
  expect(controller.get(globally(tenants, tenant))).toBeDefined()
  expect(controller.get(placementAt(tenant, ownerOf('deployment', uidOf('web'))))).toBeDefined()
  expect(controller.get(inTenant(tenant, deployments, 'web'))?.record.deleting).toBe(true)
  expect(destroyed).toBe(0)
})

test('keeps a tenant and reports a failure if its secrets cannot be removed', async () => {
  const store = await opened(createMemoryKeyspace())
  await write(store, markForRemoval)
  await store.fresh()
  const removal = finishRemovals({ store, clock, removeTenantSecrets: async () => false })
  await expect(removal).rejects.toThrow('1 removal failed')
  await store.fresh()
  expect(store.get(globally(tenants, tenant))).toBeDefined()
})

test('keeps a tenant while an owner of an unknown kind has a container', async () => {
  const store = await opened(createMemoryKeyspace())
  await write(store, markForRemoval)
  const owner = asOwner('cron/cron_1')
  await write(store, (transaction) => putPlacement(transaction, tenant, 'web', { owner }))
  const removal = () => finishRemovals({ store, clock, removeTenantSecrets: async () => true })
  await removal()
  await store.fresh()
  expect(store.get(globally(tenants, tenant))).toBeDefined()
  await write(store, (transaction) => transaction.delete(placementAt(tenant, owner)))
  await store.fresh()
  await removal()
  await store.fresh()
  expect(store.get(globally(tenants, tenant))).toBeUndefined()
})
