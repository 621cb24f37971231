// While etcd is unavailable the store returns errors in time. The store recovers when etcd is back, and lists all records
// again if history was compacted.

import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { createKeyspace } from '@holdfast/server/store/keys'
import { audit, deployments } from '@holdfast/server/store/records'
import { putDeployment, someTenant } from '@holdfast/server/store/records.fixture'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { put, unconditionally, write } from '@holdfast/simulation/conformance/fixtures'
import { type EtcdCluster, startEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { recordChanges } from '@holdfast/testkit/store/change-log'
import { openTestStore, type TestStore, type TestStoreOptions } from '@holdfast/testkit/store/open-test-store'
import { proxyCluster } from '@holdfast/testkit/store/proxied-cluster'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

const tenant = someTenant()
let cluster: EtcdCluster
let direct: KeyValueEngine

beforeAll(async () => {
  cluster = await startEtcd()
  direct = createEtcdClient({ endpoints: cluster.endpoints })
})
afterAll(async () => {
  direct.close()
  await cluster.stop()
})

async function opened(options: Partial<TestStoreOptions> = {}): Promise<TestStore> {
  const root = `/${uniqueName('away')}`
  const one = await openTestStore({ endpoints: cluster.endpoints, root, ...options })
  onTestFinished(() => one.close())
  return one
}

const create = (store: Store, name: string) =>
  store.transact((transaction) => {
    if (transaction.get(inTenant(tenant, deployments, name))) return { kind: 'abort', result: 'exists' }
    putDeployment(transaction, tenant, name)
    return { kind: 'commit', result: 'created' }
  })

/** Waits until a record is created. The write is retried, because a slow disk may exceed the short deadline. */
const isWritten = (store: Store, name: string) =>
  waitUntil(() => create(store, name), { what: `${name} is written` })

/** Waits until a call fails because the store is unavailable. */
const refusal = (work: Promise<unknown>): Promise<void> =>
  expect(work).rejects.toMatchObject({ name: 'StoreUnavailableError' })

describe('while etcd is unavailable', () => {
  test.each(['paused', 'gone'] as const)(
    'because it is %s, every call ends in time, and works again later',
    async (how) => {
      const { store } = await opened({ deadlineMs: 1_000 })
      const { store: patient } = await opened({ deadlineMs: 600_000 })
      await isWritten(store, 'web')
      const [member] = cluster.members
      if (how === 'paused') member?.pause()
      else await member?.kill()
      let isWaiting = true
      const waited = patient.fresh().finally(() => {
        isWaiting = false
      })
      // etcd is away until all calls have ended, so only the deadline of their store can end them.
      await Promise.all([
        refusal(store.fresh()),
        refusal(store.read(audit, ['/x/'])),
        refusal(store.transact(() => ({ kind: 'abort', result: undefined }))),
        refusal(create(store, 'new')),
      ])
      expect(isWaiting).toBe(true)
      if (how === 'paused') member?.resume()
      else await member?.restart()
      await waited
      await waitUntil(() => create(store, 'later'), { what: 'the store writes again' })
    },
  )

  test('queued transactions fail in time as well', async () => {
    const { store } = await opened({ deadlineMs: 1_000, groupCommit: { maxTransactions: 1, maxInFlight: 1 } })
    await isWritten(store, 'web')
    const [member] = cluster.members
    member?.pause()
    // One after another they would last longer than this test may, because each is sent with a deadline of 2.5 s.
    await Promise.all(Array.from({ length: 50 }, (_, index) => refusal(create(store, `n${index}`))))
    member?.resume()
  })

  test('a wait for a condition that never comes true ends', async () => {
    const { store } = await opened({ deadlineMs: 200 })
    const until = new Promise<void>(() => {})
    await refusal(store.transact(() => ({ kind: 'wait', until })))
  })

  test('a request that etcd can never accept is reported as invalid, not as unavailability', async () => {
    const { store } = await opened()
    const tooMany = store.transact((transaction) => {
      for (let index = 0; index < 200; index += 1) transaction.delete(inTenant(tenant, audit, `${index}`))
      return { kind: 'commit', result: undefined }
    })
    await expect(tooMany).rejects.toMatchObject({ name: 'EngineError', reason: 'invalid' })
  })
})

describe('after history was compacted', () => {
  async function cutOff(options: Partial<TestStoreOptions> = {}) {
    const through = await proxyCluster(cluster)
    onTestFinished(() => through.stop())
    const one = await opened({ endpoints: through.endpoints, ...options })
    const log = recordChanges(one.store, tenant)
    for (const name of ['kept', 'changed', 'removed']) await create(one.store, name)
    await one.store.fresh()
    through.cutOff()
    return { ...one, through, log }
  }

  /** Writes through a second store, and compacts the history that the first store has not read yet. */
  async function changeElsewhere({ store }: TestStore): Promise<void> {
    const other = await opened({ root: store.keyspace.root })
    await other.store.transact((transaction) => {
      putDeployment(transaction, tenant, 'changed', { revision: 2 })
      transaction.delete(inTenant(tenant, deployments, 'removed'))
      return { kind: 'commit', result: undefined }
    })
    await create(other.store, 'added')
    await direct.compact(await write(direct, uniqueName('elsewhere')))
  }

  const names = (store: Store) => store.list(deployments, tenant).map(({ record }) => record.spec.name)

  test('everything is listed again, waiting calls continue, and listeners receive the difference', async () => {
    const { store, counts, through, log, ...one } = await cutOff()
    await changeElsewhere({ store, counts, ...one })
    const eventsBefore = log.events()
    const waiting = store.fresh()
    through.restore()
    await waiting
    expect(counts.relists).toBe(1)
    expect(names(store)).toEqual(['kept', 'changed', 'added'])
    expect(store.get(inTenant(tenant, deployments, 'changed'))?.record.revision).toBe(2)
    // The listener was notified of five changes: an update, a removal, an addition, and the receipts of two transactions.
    expect(log.events() - eventsBefore).toBe(5)
    expect(log.repeated).toEqual([])
    expect(await create(store, 'removed')).toBe('created')
    expect(await create(store, 'added')).toBe('exists')
  })

  test('listing restarts if history is compacted again while listing and before watching', async () => {
    const trouble = { pages: 0, watches: 0 }
    const compactNow = async () => {
      await write(direct, uniqueName('elsewhere'))
      await direct.compact(await write(direct, uniqueName('elsewhere')))
    }
    const wrap: TestStoreOptions['wrap'] = (engine) => ({
      ...engine,
      async range(request, options) {
        // History is compacted after the first page of the list was read and before the second.
        if (request.revision !== undefined && trouble.pages > 0) {
          trouble.pages -= 1
          await compactNow()
        }
        return engine.range(request, options)
      },
      watch(request) {
        if (trouble.watches === 0) return engine.watch(request)
        trouble.watches -= 1
        const late = compactNow().then(() => engine.watch(request))
        return {
          requestProgress: () => void late.then((watch) => watch.requestProgress()),
          close: () => void late.then((watch) => watch.close()),
        }
      },
    })
    const { store, counts, through, log, ...one } = await cutOff({ wrap })
    const { root } = store.keyspace
    for (let index = 0; index < 5_100; index += 100) {
      const keys = Array.from({ length: 100 }, (_, nth) =>
        createKeyspace(root).globalKey('filler', `${index + nth}`),
      )
      await direct.transact(unconditionally(...keys.map((key) => put(key, '{}'))))
    }
    await changeElsewhere({ store, counts, ...one })
    Object.assign(trouble, { pages: 2, watches: 2 })
    through.restore()
    await waitUntil(() => counts.relists === 3, { what: 'history was gone three times' })
    await store.fresh()
    expect(trouble).toEqual({ pages: 0, watches: 0 })
    expect(names(store)).toEqual(['kept', 'changed', 'added'])
    expect(log.repeated).toEqual([])
    expect(await create(store, 'last')).toBe('created')
  })
})

test('a listener that throws neither blocks other listeners nor stops the cache', async () => {
  const { store } = await opened()
  const thrown: unknown[] = []
  const catching = (error: unknown) => thrown.push(error)
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', catching)
  onTestFinished(() => {
    process.removeListener('uncaughtException', catching)
    for (const each of others) process.on('uncaughtException', each)
  })
  store.subscribe(() => {
    throw new Error('listener failed')
  })
  const log = recordChanges(store, tenant)
  await create(store, 'web')
  await store.fresh()
  expect(log.events()).toBe(2)
  await waitUntil(() => thrown.length === 1, { what: 'the error was reported' })
})
