// Concurrent transactions are strictly serializable in the order of their revisions in etcd, and so are aborted
// transactions and fresh reads.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { decodeRecord } from '@holdfast/server/store/encode'
import { audit, deployments } from '@holdfast/server/store/records'
import { aDeployment, anAuditEntry, putDeployment, someTenant } from '@holdfast/server/store/records.fixture'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { sharedEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { openTestStore, type TestStore, type TestStoreOptions } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

const TRANSACTIONS = LONG ? 20_000 : 1_500
const AT_ONCE = 100
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const
const tenant = someTenant()

async function openedTwice(): Promise<readonly [TestStore, TestStore]> {
  const { endpoints } = await sharedEtcd()
  const root = `/${uniqueName('serial')}`
  const both = await Promise.all([openTestStore({ endpoints, root }), openTestStore({ endpoints, root })])
  onTestFinished(() => {
    for (const one of both) one.close()
  })
  return [both[0], both[1]]
}

interface Observed {
  readonly transaction: string
  readonly committed: boolean
  /** The writer of each value that the transaction read; undefined for a key without a value. */
  readonly reads: ReadonlyMap<string, string | undefined>
  readonly writes: readonly string[]
  readonly deletes: readonly string[]
}

const some = (most: number): string[] =>
  Array.from(
    { length: 1 + Math.floor(Math.random() * most) },
    () => NAMES[Math.floor(Math.random() * NAMES.length)] ?? 'a',
  )

/** A transaction that reads and writes random keys, and sometimes aborts because of the values that it read. */
function randomTransaction(store: Store, refused: Set<string>): Promise<Observed> {
  const [reading, writing] = [new Set(some(3)), new Set(some(2))]
  const deleting = Math.random() < 0.2
  return store.transact<Observed>((transaction) => {
    const reads = new Map<string, string | undefined>()
    for (const name of reading) reads.set(name, transaction.get(inTenant(tenant, deployments, name))?.tx)
    const seen = { transaction: transaction.id as string, reads, writes: [], deletes: [] }
    if (writing.has('a') && reads.get('b') === undefined && reads.has('b')) {
      refused.add(transaction.id)
      return { kind: 'abort', result: { ...seen, committed: false } }
    }
    for (const name of writing) {
      const address = inTenant(tenant, deployments, name)
      if (deleting) transaction.delete(address)
      else transaction.put(address, aDeployment(name, { tx: transaction.id }))
    }
    transaction.put(inTenant(tenant, audit, transaction.id), anAuditEntry(tenant, transaction.id))
    const [writes, deletes] = deleting ? [[], [...writing]] : [[...writing], []]
    return { kind: 'commit', result: { ...seen, writes, deletes, committed: true } }
  })
}

/** The revision of each committed transaction, from the transaction's receipt in etcd. */
async function committedAt(engine: KeyValueEngine, store: Store): Promise<Map<string, number>> {
  const { kvs } = await engine.range(store.keyspace.folderOf(tenant, audit.folder))
  return new Map(kvs.map((kv) => [decodeRecord(audit, kv.value).id, kv.modRevision]))
}

/** Replays transactions in order of revision. Transactions with the same revision must not overlap. */
function replay(inOrder: readonly (Observed & { readonly revision: number })[]) {
  const state = new Map<string, { writer: string | undefined; revision: number }>()
  const faults: string[] = []
  for (const { transaction, reads, writes, deletes, revision } of inOrder) {
    for (const [name, writer] of reads) {
      const found = state.get(name)
      if (found?.writer !== writer)
        faults.push(`${transaction} read ${name} of ${writer}, it was ${found?.writer}`)
      if (found?.revision === revision) faults.push(`${transaction} shared a batch with who wrote ${name}`)
    }
    for (const name of writes) state.set(name, { writer: transaction, revision })
    for (const name of deletes) state.set(name, { writer: undefined, revision })
  }
  return { faults, state }
}

test('random concurrent transactions of two server replicas equal their order in etcd', async () => {
  const [one, other] = await openedTwice()
  const refused = new Set<string>()
  const observed: Observed[] = []
  for (let done = 0; done < TRANSACTIONS; done += AT_ONCE) {
    const turn = Array.from({ length: AT_ONCE }, (_, index) =>
      randomTransaction(index % 2 === 0 ? one.store : other.store, refused),
    )
    observed.push(...(await Promise.all(turn)))
  }
  const revisions = await committedAt(one.engine, one.store)
  const committed = observed.filter((each) => each.committed)
  expect([...revisions.keys()].sort()).toEqual(committed.map((each) => each.transaction).sort())
  for (const transaction of refused) expect(revisions.has(transaction)).toBe(false)
  const inOrder = committed
    .map((each) => ({ ...each, revision: revisions.get(each.transaction) ?? 0 }))
    .sort((left, right) => left.revision - right.revision)
  const { faults, state } = replay(inOrder)
  expect(faults).toEqual([])
  const { kvs } = await one.engine.range(one.store.keyspace.folderOf(tenant, deployments.folder))
  const stored = kvs
    .map((kv) => decodeRecord(deployments, kv.value))
    .map((record) => [record.spec.name, record.tx])
  const expected = [...state].flatMap(([name, { writer }]) => (writer === undefined ? [] : [[name, writer]]))
  expect(stored.sort()).toEqual(expected.sort())
  const shared = new Set(inOrder.map(({ revision }) => revision)).size
  console.info(
    `serializable: ${committed.length} committed in ${shared} revisions, ${observed.length - committed.length} refused`,
  )
  expect(shared).toBeLessThan(committed.length)
})

test('a write that one server replica acknowledged is visible to the other', async () => {
  const [one, other] = await openedTwice()
  const isThere = (store: Store, name: string) =>
    store.transact((transaction) => {
      const found = transaction.get(inTenant(tenant, deployments, name))
      return { kind: 'abort', result: found !== undefined }
    })
  for (let round = 0; round < 200; round += 1) {
    const name = `n${round}`
    await one.store.transact((transaction) => {
      putDeployment(transaction, tenant, name)
      return { kind: 'commit', result: undefined }
    })
    if (round % 2 === 0) expect(await isThere(other.store, name)).toBe(true)
    else {
      await other.store.fresh()
      expect(other.store.get(inTenant(tenant, deployments, name))).toBeDefined()
    }
  }
})

test('a thousand transactions for one name: one gets it, and all others see that it exists', async () => {
  const [one, other] = await openedTwice()
  const outcomes = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) =>
      (index % 2 === 0 ? one : other).store.transact((transaction) => {
        if (transaction.get(inTenant(tenant, deployments, 'wanted')))
          return { kind: 'abort', result: 'exists' }
        putDeployment(transaction, tenant, 'wanted')
        return { kind: 'commit', result: 'created' }
      }),
    ),
  )
  expect(outcomes.filter((each) => each === 'created')).toHaveLength(1)
  expect(outcomes.filter((each) => each === 'exists')).toHaveLength(999)
})

/** A server replica whose first response is delayed, and which sees no events until it requests a current view. */
function slowReplica() {
  const held = Promise.withResolvers<void>()
  const unseen: { readonly revision: number; deliver(): void }[] = []
  let answers = 0
  let shown = 0
  const showUpTo = (revision: number) => {
    shown = revision
    while (unseen[0] !== undefined && unseen[0].revision <= shown) unseen.shift()?.deliver()
  }
  const wrap: TestStoreOptions['wrap'] = (engine) => ({
    ...engine,
    async transact(request, options) {
      const result = await engine.transact(request, options)
      answers += 1
      if (answers === 1) await held.promise
      return result
    },
    range(request, options) {
      // The linearizable read of one key asks for the current revision; the cache lists ranges.
      if (request.rangeEnd === undefined) showUpTo(Number.POSITIVE_INFINITY)
      return engine.range(request, options)
    },
    watch(request) {
      const onEvents: typeof request.onEvents = (events, revision) => {
        unseen.push({ revision, deliver: () => request.onEvents(events, revision) })
        showUpTo(shown)
      }
      return engine.watch({ ...request, onEvents, onProgress: () => {} })
    },
  })
  return { wrap, showUpTo, answered: () => answers, answer: held.resolve }
}

test('a transaction that was overtaken does not abort on a view from before its start', async () => {
  const { endpoints } = await sharedEtcd()
  const root = `/${uniqueName('overtaken')}`
  const slow = slowReplica()
  const groupCommit = { maxInFlight: 1 }
  const one = await openTestStore({ endpoints, root, wrap: slow.wrap, groupCommit })
  const other = await openTestStore({ endpoints, root })
  onTestFinished(() => {
    one.close()
    other.close()
  })
  const address = inTenant(tenant, deployments, 'x')
  const create = () =>
    one.store.transact((transaction) => {
      if (transaction.get(address)) return { kind: 'abort', result: 'exists' }
      putDeployment(transaction, tenant, 'x')
      return { kind: 'commit', result: 'created' }
    })
  const first = create()
  await waitUntil(() => slow.answered() === 1, { what: 'the first is committed, and its answer is delayed' })
  await other.store.fresh()
  const written = other.store.revision
  await other.store.transact((transaction) => {
    transaction.delete(address)
    return { kind: 'commit', result: undefined }
  })
  // The second create starts after another server replica got the acknowledgement of the deletion.
  const second = create()
  slow.showUpTo(written)
  slow.answer()
  expect(await Promise.all([first, second])).toEqual(['created', 'created'])
})
