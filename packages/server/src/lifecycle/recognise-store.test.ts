// A server compares the store with its file when it starts, and its heartbeats while it runs. The store is restored here by
// copying its keys to another keyspace, as etcd does with a raised revision.

import { mkdirSync, writeFileSync } from 'node:fs'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { openOver } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { makeTempFolder } from '@holdfast/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { KeyValueEngine } from '../ports/key-value.ts'
import { epochAddress } from '../store/epoch.ts'
import { createKeyspace } from '../store/keys.ts'
import { chains } from '../store/records.ts'
import { openStore, type Store } from '../store/store.ts'
import { realClock as clock, realIds as ids } from '../system-clock.ts'
import { type KnownStoreFile, openKnownStoreFile } from './known-store-file.ts'
import { recogniseStore } from './recognise-store.ts'

const BUMP = 1_000

function someFile() {
  const { path, remove } = makeTempFolder('known-store')
  onTestFinished(remove)
  const errors: unknown[] = []
  return { folder: path, errors, file: openKnownStoreFile(path, (error) => errors.push(error)) }
}

/** A store with the same records and a higher revision. */
function restoredFrom(keyspace: MemoryKeyspace): MemoryKeyspace {
  const copy = createMemoryKeyspace()
  const put = (key: string, value: Uint8Array) =>
    copy.transact({ compares: [], success: [{ kind: 'put', key, value }], failure: [] })
  for (const { key, value } of keyspace.range(createKeyspace().everything()).kvs) put(key, value)
  while (copy.revision < keyspace.revision + BUMP) put('/elsewhere/', new Uint8Array())
  return copy
}

async function open(keyspace: MemoryKeyspace): Promise<Store> {
  const store = await openOver(keyspace)
  onTestFinished(() => store.close())
  return store
}

async function start(store: Store, file?: KnownStoreFile) {
  const chain = await recogniseStore({ store, clock, ids, file })
  const beat = async () => {
    const linked = await store.transact<boolean>((transaction) =>
      chain.link(transaction) ? { kind: 'commit', result: true } : { kind: 'abort', result: false },
    )
    if (linked) chain.committed()
    else await chain.verify()
    return linked
  }
  return { chain, beat }
}

test('a server that starts again on the same store continues its chain', async () => {
  const [keyspace, { file }] = [createMemoryKeyspace(), someFile()]
  const first = await start(await open(keyspace), file)
  expect([await first.beat(), await first.beat()]).toEqual([true, true])
  const store = await open(keyspace)
  const second = await start(store, file)
  expect(await second.beat()).toBe(true)
  await store.fresh()
  expect(store.listWithIds(chains).map(({ record }) => record.count)).toEqual([3])
  expect(file.read()).toMatchObject({ chain: { count: 3 }, epoch: store.get(epochAddress)?.record.epoch })
})

test('a server refuses to start on a store that lacks its last heartbeat, even with a higher revision', async () => {
  const [keyspace, { file }] = [createMemoryKeyspace(), someFile()]
  const { beat } = await start(await open(keyspace), file)
  await beat()
  const backup = restoredFrom(keyspace)
  await beat()
  const refused = start(await open(backup), file)
  await expect(refused).rejects.toMatchObject({ name: 'RestoredStoreError' })
  await expect(refused).rejects.toThrow(
    /it wrote 2, and the store has 1\. .*`holdfast-server restored`.*store\.json/,
  )
})

test('a server accepts a restored store that an operator has declared, with a chain of its own', async () => {
  const [keyspace, { file }] = [createMemoryKeyspace(), someFile()]
  const { beat } = await start(await open(keyspace), file)
  const backup = restoredFrom(keyspace)
  await beat()
  const operator = await open(backup)
  await operator.fresh()
  await operator.transact((transaction) => {
    const before = transaction.get(epochAddress)
    if (before === undefined) throw new Error('no epoch')
    transaction.put(epochAddress, { ...before, epoch: 'declared', previous: [before.epoch] })
    return { kind: 'commit', result: undefined }
  })
  const again = await start(await open(backup), file)
  expect(await again.beat()).toBe(true)
  expect(file.read()).toMatchObject({ epoch: 'declared', chain: { count: 1 } })
})

test('a running server ends the use of a store that lacks its last heartbeat', async () => {
  const keyspace = createMemoryKeyspace()
  let engine: KeyValueEngine = connectMemory(keyspace)
  const faults: string[] = []
  const switching: KeyValueEngine = {
    range: (request, options) => engine.range(request, options),
    transact: (request, options) => engine.transact(request, options),
    watch: (request) => engine.watch(request),
    compact: (revision, options) => engine.compact(revision, options),
    status: (options) => engine.status(options),
    close: () => engine.close(),
  }
  const store = await openStore({
    engine: switching,
    clock,
    ids,
    onUnreadable: () => {},
    onRestored: ({ message }) => faults.push(message),
    deadlineMs: 300,
  })
  onTestFinished(() => store.close())
  const { chain, beat } = await start(store)
  await beat()
  const backup = restoredFrom(keyspace)
  await beat()
  engine = connectMemory(backup)
  await expect(beat()).rejects.toMatchObject({ name: 'StoreUnavailableError' })
  await chain.verify()
  expect(faults).toEqual([expect.stringContaining('it wrote 2, and the store has 1')])
  await expect(store.fresh()).rejects.toThrow('has lost heartbeats of this server')
})

test('a heartbeat whose response was lost is no fault', async () => {
  const keyspace = createMemoryKeyspace()
  const store = await open(keyspace)
  const { chain, beat } = await start(store)
  await store.transact((transaction) => ({ kind: 'commit', result: chain.link(transaction) }))
  expect(await beat()).toBe(false)
  expect(await beat()).toBe(true)
  expect(store.fault).toBeUndefined()
})

test('an unreadable file is reported, and the server starts without it', async () => {
  const { folder, file, errors } = someFile()
  mkdirSync(folder, { recursive: true })
  writeFileSync(file.path, 'nonsense')
  const { beat } = await start(await open(createMemoryKeyspace()), file)
  expect(await beat()).toBe(true)
  expect(errors).toHaveLength(1)
  expect(file.read()).toMatchObject({ chain: { count: 1 } })
})
