// The store under faults: three etcd members, four server replicas with 64 writers between them, and listeners that must
// receive every event once. Leaders are killed and paused, a member is replaced by an empty one, history is compacted, a
// catch-up exceeds 4 MiB, streams are cut at random bytes and left half open.

import type { TenantId } from '@holdfast/contract'
import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { someTenant } from '@holdfast/server/store/records.fixture'
import { type EtcdCluster, startEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { type ChangeLog, recordChanges } from '@holdfast/testkit/store/change-log'
import {
  checkEveryEvent,
  checkFinalEvents,
  checkWrites,
  readTruth,
} from '@holdfast/testkit/store/check-writes'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { type ProxiedCluster, proxyCluster } from '@holdfast/testkit/store/proxied-cluster'
import { startWriteLoad, type WriteLoad } from '@holdfast/testkit/store/write-load'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROUNDS = LONG ? 20 : 4
const CUTS = LONG ? 60 : 6
const EVENTS = LONG ? 100_000 : 3_000
const MEMBERS = 3
const WRITERS = 64
const REPLICAS = 4
const CATCH_UP_BYTES = 4 * 1024 * 1024
const PADDING = 6_000

interface Listening extends TestStore {
  readonly log: ChangeLog
}

const root = `/${uniqueName('faults')}`
const tenant: TenantId = someTenant()
let cluster: EtcdCluster
let direct: KeyValueEngine
let replicas: TestStore[]
/** Proxies between etcd and one writing server replica, the listener that falls behind, and the one that is cut off. */
let proxies: ProxiedCluster[]
let listeners: { readonly steady: Listening; readonly behind: Listening; readonly relisted: Listening }
let load: WriteLoad

const listening = async (endpoints: readonly string[]): Promise<Listening> => {
  const opened = await openTestStore({ endpoints, root })
  return { ...opened, log: recordChanges(opened.store, tenant) }
}

beforeAll(async () => {
  cluster = await startEtcd({ members: MEMBERS })
  direct = createEtcdClient({ endpoints: cluster.endpoints })
  proxies = await Promise.all([1, 2, 3].map(() => proxyCluster(cluster)))
  const [first, second, third] = proxies.map(({ endpoints }) => endpoints)
  listeners = {
    steady: await listening(cluster.endpoints),
    behind: await listening(second ?? []),
    relisted: await listening(third ?? []),
  }
  replicas = await Promise.all(
    Array.from({ length: REPLICAS }, (_, turn) => {
      const members = [...cluster.endpoints.slice(turn), ...cluster.endpoints.slice(0, turn)]
      return openTestStore({ endpoints: turn === 0 ? (first ?? []) : members, root })
    }),
  )
  load = startWriteLoad(
    replicas.map(({ store }) => store),
    { tenant, writers: WRITERS, restMs: LONG ? 0 : 30 },
  )
})

afterAll(async () => {
  await load?.stop()
  for (const one of [...(replicas ?? []), ...Object.values(listeners ?? {})]) one.close()
  direct?.close()
  await Promise.all((proxies ?? []).map((one) => one.stop()))
  await cluster?.stop()
})

/** Waits until every server replica has acknowledged a write begun after now. */
async function writesAreBack(): Promise<void> {
  const since = performance.now()
  await waitUntil(() => load.acknowledgedSince(since), { what: 'every replica writes', intervalMs: 5 })
}

test.each(
  Array.from({ length: ROUNDS }, (_, round) => ({
    round: round + 1,
    fault: round % 2 === 0 ? ('kill' as const) : ('pause' as const),
  })),
)('round $round: writes recover after the leader is lost ($fault)', async ({ fault }) => {
  await writesAreBack()
  const leader = await cluster.findLeader()
  await leader[fault]()
  await writesAreBack()
  if (fault === 'pause') leader.resume()
  else await leader.restart()
})

test('a member that lost its disk is replaced by an empty one', async () => {
  const leader = await cluster.findLeader()
  await cluster.members.find((member) => member !== leader)?.wipeAndReplace()
  await writesAreBack()
})

test('streams that are cut at random bytes lose no event', async () => {
  const [through] = proxies
  const [replica] = replicas
  for (let cut = 0; cut < CUTS; cut += 1) {
    const before = (replica?.counts.resumes ?? 0) + (replica?.counts.unknown ?? 0)
    for (const proxy of through?.proxies ?? [])
      proxy.cutAfterBytes(
        1 + Math.floor(Math.random() * 60_000),
        Math.random() < 0.5 ? 'toClient' : 'toServer',
      )
    await waitUntil(() => (replica?.counts.resumes ?? 0) + (replica?.counts.unknown ?? 0) > before, {
      what: 'a connection was cut',
    })
    through?.restore()
    await writesAreBack()
  }
})

test('unresponsive members are left for others, on idle connections too', async () => {
  const [through] = proxies
  // All connections to etcd are left half open, including those without a pending request.
  for (const proxy of through?.proxies ?? []) proxy.halfOpen()
  await writesAreBack()
  for (const proxy of through?.proxies ?? []) {
    proxy.stall()
    await writesAreBack()
    proxy.resume()
  }
})

test('a listener that was disconnected catches up with more than 4 MiB', async () => {
  const [, through] = proxies
  const { behind } = listeners
  const before = behind.counts.resumes
  through?.cutOff()
  await waitUntil(() => behind.counts.resumes > before, { what: 'the listener has lost its stream' })
  load.pad(PADDING)
  const wanted = load.ledger.acknowledged.length + WRITERS + CATCH_UP_BYTES / PADDING
  await waitUntil(() => load.ledger.acknowledged.length > wanted, { what: 'more than 4 MiB were written' })
  load.pad(0)
  through?.restore()
  await behind.store.fresh()
  expect(behind.counts.relists).toBe(0)
})

test('a listener whose history was compacted lists again, twice', async () => {
  const [, , through] = proxies
  const { relisted } = listeners
  for (let turn = 1; turn <= 2; turn += 1) {
    through?.cutOff()
    await writesAreBack()
    const { revision } = await direct.range({ key: root, countOnly: true })
    await writesAreBack()
    await direct.compact(revision)
    through?.restore()
    await waitUntil(() => relisted.counts.relists === turn, { what: 'history is gone' })
    // The wait retries, because listing hundreds of thousands of keys under load may exceed the deadline of one call.
    await waitUntil(() => relisted.store.fresh().then(() => true), { what: 'the listener is back' })
  }
})

test('no acknowledged write is lost, and every event is delivered once', async () => {
  const { steady, behind, relisted } = listeners
  await waitUntil(() => steady.log.events() >= EVENTS, {
    what: `${EVENTS} events were delivered`,
    timeoutMs: LONG ? 1_800_000 : 60_000,
    intervalMs: 100,
  })
  await load.stop()
  await Promise.all([steady, behind, relisted].map(({ store }) => store.fresh()))
  const truth = await readTruth(direct, steady.store.keyspace, tenant)
  const { ledger } = load
  const cancelled = [...truth.stored.keys()].filter((key) => truth.keyspace.parse(key)?.folder === 'cancel')
  console.info(
    `store under faults: ${ROUNDS} leaders lost, ` +
      `longest gap of one replica ${Math.round(load.slowestGapMs())} ms; ` +
      `${ledger.acknowledged.length} writes acknowledged, ${ledger.uncertain.length} not decided ` +
      `(${[...new Set(ledger.uncertain.map(({ why }) => why))].join('; ')}), ` +
      `${replicas.map(({ counts }) => counts.unknown)} answers lost, ${cancelled.length} cancelled; ` +
      `events delivered ${steady.log.events()}, ${behind.log.events()}, ${relisted.log.events()} (relisted)`,
  )
  expect(checkWrites(truth, ledger)).toEqual([])
  expect([steady, behind, relisted].map(({ counts }) => counts.relists)).toEqual([0, 0, 2])
  expect(checkEveryEvent(truth, steady.log)).toEqual([])
  expect(checkEveryEvent(truth, behind.log)).toEqual([])
  expect(checkFinalEvents(truth, steady.log)).toEqual([])
  expect(checkFinalEvents(truth, relisted.log)).toEqual([])
  expect(cancelled.length).toBeLessThanOrEqual(
    replicas.reduce((sum, { counts }) => sum + 64 * counts.unknown, 0),
  )
})
