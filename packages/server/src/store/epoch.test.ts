import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { realClock as clock, realIds as ids } from '../system-clock.ts'
import { epochAddress, type StoreEpoch } from './epoch.ts'
import { putDeployment, someTenant } from './records.fixture.ts'
import { requireEpoch } from './require-epoch.ts'
import { openStore, type Store } from './store.ts'

const tenant = someTenant()

async function open(keyspace: MemoryKeyspace) {
  const faults: string[] = []
  const store = await openStore({
    engine: connectMemory(keyspace),
    clock,
    ids,
    onUnreadable: () => {},
    onRestored: ({ message }) => faults.push(message),
    deadlineMs: 1_000,
  })
  onTestFinished(() => store.close())
  return { store, faults }
}

const create = (store: Store, name: string) =>
  store.transact((transaction) => {
    putDeployment(transaction, tenant, name)
    return { kind: 'commit', result: 'created' }
  })

async function change(store: Store, next: (before: StoreEpoch) => StoreEpoch): Promise<void> {
  await store.fresh()
  await store.transact((transaction) => {
    const before = transaction.get(epochAddress)
    if (before === undefined) throw new Error('no epoch')
    transaction.put(epochAddress, next(before))
    return { kind: 'commit', result: undefined }
  })
}

test('creates one epoch for all servers that start at the same time', async () => {
  const keyspace = createMemoryKeyspace()
  const stores = await Promise.all([1, 2, 3].map(() => openOver(keyspace)))
  const found = await Promise.all(stores.map((store) => requireEpoch(store, { clock, ids })))
  expect(new Set(found.map(({ epoch }) => epoch)).size).toBe(1)
  expect(found[0]?.epoch).toMatch(/^[\w-]{22}$/)
  for (const store of stores) store.close()
})

test('refuses a store that was written in another etcd cluster', async () => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const inCluster = (clusterId: string) =>
    requireEpoch({ transact: store.transact, clusterId }, { clock, ids })
  await inCluster('a1')
  await expect(inCluster('b2')).rejects.toMatchObject({
    name: 'RestoredStoreError',
    message: expect.stringMatching(
      /^etcd is cluster b2, but .* cluster a1\. .*`holdfast-server restored` once/,
    ),
  })
  await expect(inCluster('a1')).resolves.toMatchObject({ clusterId: 'a1' })
})

test('a server that started before the first epoch keeps working when one appears', async () => {
  const keyspace = createMemoryKeyspace()
  const [early, later] = [await open(keyspace), await open(keyspace)]
  await requireEpoch(later.store, { clock, ids })
  expect(await create(early.store, 'web')).toBe('created')
  expect([early.faults, later.faults]).toEqual([[], []])
})

test('a running server serves and writes nothing after an operator has declared a restore', async () => {
  const keyspace = createMemoryKeyspace()
  const [running, operator] = [await open(keyspace), await openOver(keyspace)]
  const { epoch } = await requireEpoch(running.store, { clock, ids })
  await change(operator, (before) => ({ ...before, confirmedTenants: [] }))
  expect(await create(running.store, 'before')).toBe('created')

  await change(operator, (before) => ({ ...before, epoch: 'other', previous: [epoch] }))
  const restored = { name: 'StoreUnavailableError', message: expect.stringContaining('has epoch other') }
  await expect(create(running.store, 'after')).rejects.toMatchObject(restored)
  await expect(running.store.fresh()).rejects.toMatchObject(restored)
  expect(running.faults).toEqual([expect.stringMatching(/declared it restored\. Start this server again\.$/)])
  expect(running.store.fault).toBe(running.faults[0])
  operator.close()
})

test('a server whose watch is silent compares the epoch in each transaction and each fresh read', async () => {
  const keyspace = createMemoryKeyspace()
  const engine = connectMemory(keyspace)
  const faults: string[] = []
  let silent = false
  const store = await openStore({
    engine: {
      ...engine,
      watch: (request) =>
        engine.watch({
          ...request,
          onEvents: (events, revision) => silent || request.onEvents(events, revision),
          onProgress: (revision) => silent || request.onProgress(revision),
        }),
    },
    clock,
    ids,
    onUnreadable: () => {},
    onRestored: ({ message }) => faults.push(message),
    deadlineMs: 300,
  })
  onTestFinished(() => store.close())
  await requireEpoch(store, { clock, ids })
  await store.fresh()
  silent = true
  const operator = await openOver(keyspace)
  onTestFinished(() => operator.close())
  await change(operator, (before) => ({ ...before, epoch: 'other' }))
  const { revision } = keyspace
  await expect(create(store, 'lost')).rejects.toMatchObject({ name: 'StoreUnavailableError' })
  expect(keyspace.revision).toBe(revision)
  await expect(store.fresh()).rejects.toMatchObject({ message: expect.stringContaining('has epoch other') })
  expect(faults).toHaveLength(1)
})

test('a store that loses its epoch is not used any longer', async () => {
  const keyspace = createMemoryKeyspace()
  const [running, other] = [await open(keyspace), await openOver(keyspace)]
  await requireEpoch(running.store, { clock, ids })
  await write(other, (transaction) => transaction.delete(epochAddress))
  await expect(running.store.fresh()).rejects.toThrow('has lost its epoch')
  other.close()
})
