// Transactions whose responses are lost, thousands of times: a transaction is never applied twice and its outcome is
// never reported wrongly. A request that arrives after its cancellation is not applied.

import { setTimeout as pause } from 'node:timers/promises'
import type { TenantId } from '@holdfast/contract'
import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import { audit, deployments } from '@holdfast/server/store/records'
import { putDeployment, someTenant } from '@holdfast/server/store/records.fixture'
import { inTenant } from '@holdfast/server/store/transaction'
import { sharedEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { checkWrites, readTruth } from '@holdfast/testkit/store/check-writes'
import { openTestStore, type TestStore, type TestStoreOptions } from '@holdfast/testkit/store/open-test-store'
import { createPostman, type Fate } from '@holdfast/testkit/store/postman'
import { proxyCluster } from '@holdfast/testkit/store/proxied-cluster'
import { bump, newLedger, putNext, type Writing } from '@holdfast/testkit/store/write-ledger'
import { startWriteLoad } from '@holdfast/testkit/store/write-load'
import { expect, onTestFinished, test } from 'vitest'

const LOST = LONG ? 5_000 : 200
const CUTS = LONG ? 2_000 : 100

const tenant: TenantId = someTenant()

async function opened(options: Partial<TestStoreOptions> = {}): Promise<TestStore> {
  const { endpoints } = await sharedEtcd()
  const one = await openTestStore({ endpoints, root: `/${uniqueName('unknown')}`, ...options })
  onTestFinished(() => one.close())
  return one
}

async function faultsOf({ store }: TestStore, { ledger }: Writing): Promise<string[]> {
  const direct = createEtcdClient({ endpoints: (await sharedEtcd()).endpoints })
  onTestFinished(() => direct.close())
  return checkWrites(await readTruth(direct, store.keyspace, tenant), ledger)
}

/** Chooses at random whether a request is delivered, is lost, arrives late, or is applied without a response. */
const anyFate = (): Fate =>
  (['delivered', 'answer lost', 'request lost', 'late'] as const)[Math.floor(Math.random() * 4)] ??
  'delivered'

test('requests and responses are lost in every way, and each write happens exactly once', async () => {
  const postman = createPostman(anyFate)
  const one = await opened({ wrap: postman.wrap, deadlineMs: 60_000 })
  const writing: Writing = { store: one.store, tenant, ledger: newLedger(), padding: () => 0 }
  let done = false
  const late = (async () => {
    let applied = 0
    while (!done || postman.held() > 0) {
      applied += await postman.deliverHeld()
      await pause(Math.random() * 10)
    }
    return applied
  })()
  const lost = () => postman.fates['answer lost'] + postman.fates['request lost'] + postman.fates.late
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let round = 0; lost() < LOST; round += 1) {
      await putNext(writing, `w${writer}-${round}`, 0)
      await putNext(writing, `w${writer}-${round}`, 1)
      await bump(writing, `shared-${round % 3}`)
    }
  })
  await Promise.all(writers)
  done = true
  const appliedLate = await late
  const { acknowledged, uncertain } = writing.ledger
  console.info(
    `unknown outcomes: ${JSON.stringify(postman.fates)}, applied late ${appliedLate}; ` +
      `${acknowledged.length} writes acknowledged, ${uncertain.length} not decided`,
  )
  expect(await faultsOf(one, writing)).toEqual([])
  expect(uncertain).toEqual([])
})

test('a request that arrives after its cancellation is not applied, though no other record prevents it', async () => {
  const fates: Fate[] = []
  const postman = createPostman(() => fates.shift() ?? 'delivered')
  const { store } = await opened({ wrap: postman.wrap })
  for (let round = 0; round < 20; round += 1) {
    let tries = 0
    fates.push('late')
    await store.transact((transaction) => {
      tries += 1
      putDeployment(transaction, tenant, `late-${round}`, { revision: tries })
      return { kind: 'commit', result: undefined }
    })
    expect(postman.held()).toBe(1)
    expect(await postman.deliverHeld()).toBe(0)
    await store.fresh()
    expect(store.get(inTenant(tenant, deployments, `late-${round}`))?.record.revision).toBe(2)
  }
  expect(store.keysOf(audit, tenant)).toHaveLength(20)
})

test('a lost outcome lookup is repeated, and the result is the same', async () => {
  const fates: Fate[] = []
  const postman = createPostman(() => fates.shift() ?? 'delivered')
  const one = await opened({ wrap: postman.wrap })
  const writing: Writing = { store: one.store, tenant, ledger: newLedger(), padding: () => 0 }
  const series: Fate[][] = [
    ['answer lost', 'answer lost', 'request lost'],
    ['request lost', 'answer lost', 'answer lost'],
    ['late', 'request lost', 'late', 'answer lost'],
  ]
  for (const [index, each] of series.entries()) {
    fates.push(...each)
    expect(await putNext(writing, `asked-${index}`, 0)).toBe(true)
    await postman.deliverHeld()
  }
  expect(await faultsOf(one, writing)).toEqual([])
})

test('without a receipt the outcome stays unknown: the call fails and is not retried', async () => {
  const fates: Fate[] = ['answer lost']
  const postman = createPostman(() => fates.shift() ?? 'delivered')
  const { store } = await opened({ wrap: postman.wrap })
  const deleting = store.transact((transaction) => {
    transaction.delete(inTenant(tenant, audit, 'none'))
    return { kind: 'commit', result: undefined }
  })
  await expect(deleting).rejects.toMatchObject({ name: 'StoreUnavailableError' })
  expect(postman.fates.delivered).toBe(0)
})

test('connections that break between request and response apply each write once', async () => {
  const { endpoints } = await sharedEtcd()
  const through = await proxyCluster({ endpoints })
  const watching = createEtcdClient({ endpoints })
  onTestFinished(async () => {
    watching.close()
    await through.stop()
  })
  // Watches use another connection, so that every cut of the proxied connections hits requests only.
  const wrap: TestStoreOptions['wrap'] = (engine) => ({ ...engine, watch: watching.watch })
  const one = await opened({ endpoints: through.endpoints, wrap })
  const load = startWriteLoad([one.store], { tenant, writers: 16, restMs: 0 })
  const { ledger } = load
  for (let cut = 0; cut < CUTS; cut += 1) {
    const before = one.counts.unknown
    const direction = Math.random() < 0.75 ? 'toClient' : 'toServer'
    // A cut between two requests loses no response, so the test cuts again until a response is lost.
    for (let since = 0; one.counts.unknown === before; ) {
      if (performance.now() - since > 300) {
        since = performance.now()
        for (const proxy of through.proxies)
          proxy.cutAfterBytes(1 + Math.floor(Math.random() * 4_000), direction)
      }
      await pause(1)
    }
    through.restore()
    const written = ledger.acknowledged.length
    await waitUntil(() => ledger.acknowledged.length > written, { what: 'writes continue', intervalMs: 2 })
  }
  await load.stop()
  console.info(
    `cut connections: ${CUTS} cuts, ${one.counts.unknown} answers lost; ` +
      `${ledger.acknowledged.length} writes acknowledged, ${ledger.uncertain.length} not decided`,
  )
  expect(await faultsOf(one, { store: one.store, tenant, ledger, padding: () => 0 })).toEqual([])
})
