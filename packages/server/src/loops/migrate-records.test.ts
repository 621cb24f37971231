// Tests that records of older forms are rewritten once the newer form may be written: all of them, in bounded transactions,
// by the owner of the shard only.

import type { TenantId } from '@holdfast/contract'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { clock, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import type { Migration } from '../migrations/migration.ts'
import { FIRST_FORMAT, formatAddress } from '../store/format.ts'
import { aDeployment, someTenant } from '../store/records.fixture.ts'
import { type Collection, cancels, deployments, platform } from '../store/records.ts'
import { openStore, type Store } from '../store/store.ts'
import { globally, inTenant } from '../store/transaction.ts'
import { realIds as ids } from '../system-clock.ts'
import { type MigrateDeps, migrateRecords } from './migrate-records.ts'

const FORMS = [
  { v: 1, since: '0.1.0' },
  { v: 2, since: '0.2.0' },
]
const HASHED: Migration<ReturnType<typeof aDeployment>> = {
  collection: deployments,
  to: 2,
  migrate: (record) => ({ ...record, v: 2, specHash: `hash of ${record.spec.name}` }),
}
const stamped: Migration<{ v: number; at: string }> = {
  collection: cancels,
  to: 2,
  migrate: (record) => ({ ...record, v: 2, at: 'migrated' }),
}
const MANY = 120

async function openWith(tenants: readonly TenantId[], size = MANY): Promise<Store> {
  const engine = connectMemory(createMemoryKeyspace())
  const store = await openStore({ engine, clock, ids, forms: FORMS, onUnreadable: () => {} })
  onTestFinished(() => store.close())
  await write(store, (transaction) => {
    for (const tenant of tenants) putTenant(transaction, tenant)
    transaction.put(globally(platform, 'id'), { v: 1, tenant: tenants[0] ?? someTenant() })
    transaction.put(globally(cancels, 'any'), { v: 1, at: '' })
  })
  for (const tenant of tenants)
    for (let number = 0; number < size; number += 1)
      await write(store, (transaction) =>
        transaction.put(inTenant(tenant, deployments, `d${number}`), aDeployment(`d${number}`)),
      )
  return store
}

/** Leadership over the given tenants, and the number of records that each transaction wrote. */
function leaderOf(store: Store, tenants: readonly TenantId[]) {
  const sizes: number[] = []
  const leadership: MigrateDeps['leadership'] = {
    owns: (tenant) => tenants.includes(tenant),
    async fenced(_, decide) {
      const result = await store.transact(decide)
      sizes.push(Number(result))
      return result
    },
  }
  return { leadership, sizes }
}

async function raise(store: Store): Promise<void> {
  await write(store, (transaction) =>
    transaction.put(formatAddress, { ...FIRST_FORMAT, reads: 2, writes: 2 }),
  )
  await store.fresh()
}
const formsOf = <T extends { readonly v: number }>(
  store: Store,
  collection: Collection<T>,
  tenant?: TenantId,
) => new Set(store.list(collection, tenant).map(({ record }) => record.v))

test('rewrites all records in bounded transactions, and only after the form may be written', async () => {
  const tenant = someTenant()
  const store = await openWith([tenant])
  await store.fresh()
  const { leadership, sizes } = leaderOf(store, [tenant])
  const deps = { store, leadership, migrations: [HASHED] }
  expect(await migrateRecords(deps)).toBe(0)
  await raise(store)
  expect(await migrateRecords(deps)).toBe(MANY)
  await store.fresh()
  expect(formsOf(store, deployments, tenant)).toEqual(new Set([2]))
  expect(store.get(inTenant(tenant, deployments, 'd7'))?.record.specHash).toBe('hash of d7')
  expect(Math.max(...sizes)).toBeLessThanOrEqual(50)
  expect(await migrateRecords(deps)).toBe(0)
})

test('bounds the bytes of a transaction', async () => {
  const tenant = someTenant()
  const store = await openWith([tenant], 0)
  for (const name of ['a', 'b', 'c'])
    await write(store, (transaction) =>
      transaction.put(
        inTenant(tenant, deployments, name),
        aDeployment(name, { specHash: 'x'.repeat(300_000) }),
      ),
    )
  await raise(store)
  const { leadership, sizes } = leaderOf(store, [tenant])
  expect(await migrateRecords({ store, leadership, migrations: [HASHED] })).toBe(3)
  expect(sizes).toEqual([1, 1, 1])
})

test('leaves the records of tenants whose shard another server owns', async () => {
  const [own, other] = [someTenant(), someTenant()]
  const store = await openWith([other, own], 2)
  await raise(store)
  const { leadership } = leaderOf(store, [own])
  expect(await migrateRecords({ store, leadership, migrations: [HASHED, stamped] })).toBe(2)
  await store.fresh()
  expect(formsOf(store, deployments, other)).toEqual(new Set([1]))
  expect(formsOf(store, cancels)).toEqual(new Set([1]))
})

test("the owner of the platform's shard rewrites the records of no tenant", async () => {
  const tenant = someTenant()
  const store = await openWith([tenant], 0)
  await raise(store)
  const { leadership } = leaderOf(store, [tenant])
  expect(await migrateRecords({ store, leadership, migrations: [stamped] })).toBe(1)
  await store.fresh()
  expect(store.get(globally(cancels, 'any'))?.record).toEqual({ v: 2, at: 'migrated' })
})

test('keeps what was written between the search and the transaction', async () => {
  const tenant = someTenant()
  const store = await openWith([tenant], 1)
  await raise(store)
  const { leadership } = leaderOf(store, [tenant])
  const fenced: MigrateDeps['leadership']['fenced'] = async (of, decide) => {
    await write(store, (transaction) =>
      transaction.put(inTenant(tenant, deployments, 'd0'), aDeployment('d0', { revision: 9 })),
    )
    return leadership.fenced(of, decide)
  }
  expect(await migrateRecords({ store, leadership: { ...leadership, fenced }, migrations: [HASHED] })).toBe(1)
  await store.fresh()
  expect(store.get(inTenant(tenant, deployments, 'd0'))?.record).toMatchObject({ v: 2, revision: 9 })
})
