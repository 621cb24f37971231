// The real store, with cache and group commit, over the in-memory engine, as simulations use it.

import type { TenantId, TransactionId } from '@holdfast/contract'
import type { IdSource } from '@holdfast/server/ports/clock'
import { audit, deployments } from '@holdfast/server/store/records'
import { aDeployment, anAuditEntry, someTenant } from '@holdfast/server/store/records.fixture'
import { openStore, type Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { connectMemory } from './connect-memory.ts'
import { createMemoryKeyspace, type MemoryKeyspace } from './keyspace.ts'
import type { LineOptions } from './line.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.restoreAllMocks().useRealTimers())

const tenant: TenantId = someTenant()
let lastId = 0
const ids: IdSource = {
  ulid() {
    lastId += 1
    return String(lastId).padStart(26, '0')
  },
  uuid: () => '',
  bytes: (count) => new Uint8Array(count),
}

async function opened(keyspace: MemoryKeyspace, line: LineOptions = {}): Promise<Store> {
  const engine = connectMemory(keyspace, line)
  const options = { engine, clock: { now: () => 0 }, ids, onUnreadable: () => {}, deadlineMs: 60_000 }
  return settled(openStore(options))
}

/** Advances virtual time until the promise settles. */
async function settled<T>(work: Promise<T>): Promise<T> {
  let done = false
  const finish = () => {
    done = true
  }
  work.then(finish, finish)
  while (!done) await vi.advanceTimersByTimeAsync(10)
  return work
}

/** Increments the deployment's revision, with a receipt that shows after a lost answer whether the write was applied. */
function bump(store: Store, name: string): Promise<number> {
  return store.transact((transaction) => {
    const address = inTenant(tenant, deployments, name)
    const revision = (transaction.get(address)?.revision ?? 0) + 1
    transaction.put(address, aDeployment(name, { revision, tx: transaction.id }))
    const entry = anAuditEntry(tenant, transaction.id as TransactionId, `${name} ${revision}`)
    transaction.put(inTenant(tenant, audit, transaction.id), entry)
    return { kind: 'commit', result: revision }
  })
}

const revisionOf = (store: Store, name: string) =>
  store.get(inTenant(tenant, deployments, name))?.record.revision

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const FATES = ['none', 'lose_answer', 'none', 'none', 'lose_request', 'none', 'refuse', 'none'] as const

describe('the store over memory', () => {
  test('two replicas increment one record without losing a step', async () => {
    const keyspace = createMemoryKeyspace()
    const stores = [await opened(keyspace), await opened(keyspace)]
    const results = await settled(
      Promise.all(stores.flatMap((one) => numbers(20).map(() => bump(one, 'app')))),
    )
    expect(results.toSorted((left, right) => left - right)).toEqual(numbers(40).map((index) => index + 1))
    await settled(Promise.all(stores.map((one) => one.fresh())))
    expect(stores.map((one) => revisionOf(one, 'app'))).toEqual([40, 40])
  })

  test('sends transactions that wait together in one batch', async () => {
    const keyspace = createMemoryKeyspace()
    const requests: string[] = []
    const store = await opened(keyspace, {
      fault(call) {
        if (call === 'transact') requests.push(call)
        return 'none'
      },
    })
    await settled(Promise.all(numbers(200).map((index) => bump(store, `app-${index}`))))
    expect(store.list(deployments, tenant)).toHaveLength(200)
    expect(requests.length).toBeLessThan(20)
  })

  test('applies each write once although answers and requests are lost or late', async () => {
    const keyspace = createMemoryKeyspace()
    // Fixes the store's random retry delays, so that the test runs the same way each time.
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    let turn = 0
    const faulty = await opened(keyspace, {
      fault(call) {
        if (call !== 'transact') return 'none'
        turn += 1
        return FATES[turn % FATES.length] ?? 'none'
      },
      // Every seventh transaction gets its answer after the store's deadline and is applied nevertheless.
      delayMs: (call) => (call === 'transact' && turn % 7 === 0 ? 8_000 : turn % 3),
    })
    const rival = await opened(keyspace)
    const work = numbers(30).map((index) => bump(index % 2 === 0 ? faulty : rival, `app-${index % 3}`))
    const results = await settled(Promise.all(work))
    expect(results).toHaveLength(30)
    await vi.advanceTimersByTimeAsync(60_000)
    await settled(rival.fresh())
    expect([0, 1, 2].map((index) => revisionOf(rival, `app-${index}`))).toEqual([10, 10, 10])
  })

  test('lists everything again in a replica that was cut off while history was compacted', async () => {
    const keyspace = createMemoryKeyspace()
    let cut = false
    const behind = await opened(keyspace, {
      fault: (call) => (cut && call === 'watch' ? 'refuse' : 'none'),
    })
    const other = await opened(keyspace)
    cut = true
    await settled(bump(other, 'app'))
    await settled(bump(other, 'app'))
    keyspace.compact(keyspace.revision)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(revisionOf(behind, 'app')).toBe(undefined)
    cut = false
    await settled(behind.fresh())
    expect(revisionOf(behind, 'app')).toBe(2)
  })
})
