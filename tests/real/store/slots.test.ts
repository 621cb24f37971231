// A quota of N records allows exactly N, for any number of concurrent requests.

import { createSlotAllocator, type SlotAllocator, slotId } from '@holdfast/server/quotas/slots'
import { deployments, slots } from '@holdfast/server/store/records'
import { putDeployment, someTenant } from '@holdfast/server/store/records.fixture'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { sharedEtcd, uniqueName } from '@holdfast/testkit'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

const KIND = 'deployments'
const tenant = someTenant()

interface Replica {
  readonly store: Store
  readonly allocator: SlotAllocator
}

async function replicaOf(root: string): Promise<Replica> {
  const { endpoints } = await sharedEtcd()
  const { store, close } = await openTestStore({ endpoints, root })
  onTestFinished(close)
  return { store, allocator: createSlotAllocator(store, (limit) => Math.floor(Math.random() * limit)) }
}

/** Creates a record as the product does: it tries another slot after each conflict, and keeps none if it fails. */
async function create({ store, allocator }: Replica, name: string, limit: number): Promise<boolean> {
  let held: number | undefined
  const release = () => {
    if (held !== undefined) allocator.release(tenant, KIND, held)
    held = undefined
  }
  try {
    return await store.transact((transaction) => {
      release()
      const choice = allocator.choose(tenant, KIND, limit)
      if (choice.kind === 'busy') return { kind: 'wait', until: choice.until }
      if (choice.kind === 'full') return { kind: 'abort', result: false }
      held = choice.slot
      const address = inTenant(tenant, slots, slotId(KIND, choice.slot))
      transaction.requireAbsent(address)
      transaction.put(address, { v: 1, holder: name })
      putDeployment(transaction, tenant, name, { slot: choice.slot })
      return { kind: 'commit', result: true }
    })
  } finally {
    release()
  }
}

async function remove({ store }: Replica, name: string): Promise<void> {
  await store.transact((transaction) => {
    const address = inTenant(tenant, deployments, name)
    const found = transaction.get(address)
    transaction.delete(address)
    if (found) transaction.delete(inTenant(tenant, slots, slotId(KIND, found.slot)))
    return { kind: 'commit', result: undefined }
  })
}

const createAll = (replicas: readonly Replica[], names: readonly string[], limit: number) =>
  Promise.all(
    names.map((name, index) => {
      const replica = replicas[index % replicas.length]
      return replica === undefined ? false : create(replica, name, limit)
    }),
  )

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

test('400 creations on two server replicas under a quota of 200 have exactly 200 successes', async () => {
  const root = `/${uniqueName('slots')}`
  const replicas = await Promise.all([replicaOf(root), replicaOf(root)])
  const created = await createAll(replicas, named('a', 400), 200)
  expect(created.filter(Boolean)).toHaveLength(200)
  for (const { store, allocator } of replicas) {
    await store.fresh()
    expect(allocator.used(tenant, KIND)).toBe(200)
    const records = store.list(deployments, tenant).map(({ record }) => record.slot)
    expect(new Set(records).size).toBe(200)
    expect(store.keysOf(slots, tenant)).toHaveLength(200)
  }
})

test('a released slot can be allocated again, and no more than that', async () => {
  const root = `/${uniqueName('slots')}`
  const replicas = await Promise.all([replicaOf(root), replicaOf(root)])
  const [first] = replicas
  const names = named('a', 20)
  const created = await createAll(replicas, names, 20)
  expect(created).toEqual(names.map(() => true))
  for (const name of names.slice(0, 7)) if (first) await remove(first, name)
  const again = await createAll(replicas, named('b', 30), 20)
  expect(again.filter(Boolean)).toHaveLength(7)
})

test('a lowered quota includes the records that exist already', async () => {
  const root = `/${uniqueName('slots')}`
  const replicas = await Promise.all([replicaOf(root), replicaOf(root)])
  await createAll(replicas, named('a', 12), 100)
  for (const { store } of replicas) await store.fresh()
  const created = await createAll(replicas, named('b', 40), 20)
  expect(created.filter(Boolean)).toHaveLength(8)
  expect((await createAll(replicas, named('c', 4), 10)).filter(Boolean)).toHaveLength(0)
})
