// How long server replicas take to notice that another one has stopped, hangs or is dead: in virtual time, with the default
// timings, on the in-memory store. tests/real/placement/leadership.test.ts has the same takeovers on etcd, without times.

import { shardAddress } from '@holdfast/server/loops/leadership/fence'
import { LEADERSHIP_TIMINGS, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import { SHARDS } from '@holdfast/server/loops/leadership/shard-of'
import type { Clock } from '@holdfast/server/ports/clock'
import { formatAddress } from '@holdfast/server/store/format'
import { serverReplicas } from '@holdfast/server/store/records'
import type { RecordForm } from '@holdfast/server/store/records/collection'
import { openStore, type Store } from '@holdfast/server/store/store'
import { globally } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { createPausable, type Pausable } from '@holdfast/testkit/controllers/pausable-engine'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** Time within which another replica owns the shards of one that hangs or is dead. */
const TAKEOVER_MS = 15_000
/** Time within which every shard has another owner after a clean stop: a sixth of the time of a stale heartbeat. */
const CLEAN_STOP_MS = 2_000
/** Time within which the new form is written after the last older server has ended. */
const WRITTEN_WITHIN_MS = 10_000
const STEP_MS = 10
const FORMS: readonly RecordForm[] = [{ v: 1, since: '0.1.0' }]
const NEWER: readonly RecordForm[] = [...FORMS, { v: 2, since: '9.9.0' }]

const clock: Clock = { now: () => Date.now() }
let keyspace: MemoryKeyspace
let stops: (() => Promise<void>)[]

beforeEach(() => {
  vi.useFakeTimers()
  keyspace = createMemoryKeyspace()
  stops = []
})
afterEach(async () => {
  await settled(Promise.all(stops.map((stop) => stop())))
  vi.useRealTimers()
})

/** Advances the time until the promise is settled. */
async function settled<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  const finish = (): void => {
    isDone = true
  }
  work.then(finish, finish)
  while (!isDone) await vi.advanceTimersByTimeAsync(STEP_MS)
  return work
}

/** Advances the time until the condition holds, and returns how long that took. */
async function timeUntil(holds: () => boolean): Promise<number> {
  const began = performance.now()
  while (!holds()) {
    if (performance.now() - began > 60_000) throw new Error(`not within a minute: ${holds}`)
    await vi.advanceTimersByTimeAsync(STEP_MS)
  }
  return performance.now() - began
}

interface Replica extends Pausable {
  readonly store: Store
  stop(): Promise<void>
}

async function startReplica(replica: string, forms = FORMS): Promise<Replica> {
  const pausable = createPausable()
  const engine = pausable.wrap(connectMemory(keyspace))
  const store = await settled(
    openStore({ engine, clock, ids, forms, finalize: 'auto', onUnreadable: () => {} }),
  )
  const leadership = startLeadership({ store, clock, replica, url: `http://${replica}`, onError: () => {} })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    pausable.resume()
    stopped ??= leadership.stop().then(() => {
      store.close()
      engine.close()
    })
    return stopped
  }
  stops.push(stop)
  await timeUntil(() => store.get(globally(serverReplicas, replica)) !== undefined)
  return { ...pausable, store, stop }
}

const shardsOf = ({ store }: Replica, owner: string): number =>
  Array.from({ length: SHARDS }, (_, shard) => store.get(shardAddress(shard))?.record.owner).filter(
    (each) => each === owner,
  ).length

/** Starts two replicas, `a` and `b`, each of which owns half of the shards. */
async function startTwo(): Promise<readonly [Replica, Replica]> {
  const a = await startReplica('a')
  await timeUntil(() => shardsOf(a, 'a') === SHARDS)
  const b = await startReplica('b')
  await timeUntil(() => shardsOf(b, 'b') === SHARDS / 2 && shardsOf(a, 'b') === SHARDS / 2)
  return [a, b]
}

test('another replica owns every shard within two seconds of a clean stop', async () => {
  const [a, b] = await startTwo()
  const stopping = a.stop()
  expect(await timeUntil(() => shardsOf(b, 'b') === SHARDS)).toBeLessThan(CLEAN_STOP_MS)
  await settled(stopping)
  expect(b.store.get(globally(serverReplicas, 'a'))).toBeUndefined()
})

test('another replica owns every shard of one that hangs within 15 seconds, and not while its heartbeat is recent', async () => {
  const [a, b] = await startTwo()
  // The replica hangs at each moment between two of its heartbeats.
  for (let afterMs = 0; afterMs < LEADERSHIP_TIMINGS.heartbeatMs; afterMs += 250) {
    await vi.advanceTimersByTimeAsync(afterMs)
    a.pause()
    const tookMs = await timeUntil(() => shardsOf(b, 'b') === SHARDS)
    expect(tookMs).toBeLessThan(TAKEOVER_MS)
    expect(tookMs).toBeGreaterThan(LEADERSHIP_TIMINGS.silentMs - LEADERSHIP_TIMINGS.heartbeatMs - 500)
    a.resume()
    await timeUntil(() => shardsOf(a, 'a') === SHARDS / 2 && shardsOf(b, 'a') === SHARDS / 2)
  }
})

test('the new form is written within 10 seconds after the last older server was killed', async () => {
  const older = await startReplica('older')
  const newer = await startReplica('newer', NEWER)
  const writes = (): number | undefined => newer.store.get(formatAddress)?.record.writes
  await vi.advanceTimersByTimeAsync(LEADERSHIP_TIMINGS.heartbeatMs)
  expect(writes()).toBe(1)
  older.pause()
  expect(await timeUntil(() => writes() === 2)).toBeLessThan(WRITTEN_WITHIN_MS)
})
