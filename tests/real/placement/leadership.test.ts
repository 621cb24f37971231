// Leadership over 64 shards on real etcd: every server replica owns a share, a paused owner loses its shards, and later
// writes of that owner are rejected. Timings are a tenth of the defaults. How soon a shard has another owner is asserted in
// virtual time, in tests/controllers/leadership-times.test.ts.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { TenantId } from '@holdfast/contract'
import { shardAddress } from '@holdfast/server/loops/leadership/fence'
import { type Leadership, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import { SHARDS } from '@holdfast/server/loops/leadership/shard-of'
import { serverReplicas } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { sharedEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { createPausable, type Pausable } from '@holdfast/testkit/controllers/pausable-engine'
import { TENTH } from '@holdfast/testkit/controllers/timings'
import { type WitnessLog, watchWitness, writeWitness } from '@holdfast/testkit/controllers/witness'
import { LONG } from '@holdfast/testkit/long-run'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ROUNDS = LONG ? 45 : 5

interface Replica extends Pausable {
  readonly id: string
  readonly store: Store
  readonly leadership: Leadership
  /** The shards that the server replica believes to own. */
  readonly held: Set<number>
}

let root: string
let endpoints: readonly string[]
let opened: TestStore[]
let replicas: Replica[]
let observer: TestStore
const tenant = randomUUID() as TenantId

beforeEach(async () => {
  root = `/${uniqueName('lead')}`
  endpoints = (await sharedEtcd()).endpoints
  opened = []
  replicas = []
  observer = await openTestStore({ endpoints, root })
})

afterEach(async () => {
  for (const replica of replicas) replica.resume()
  await Promise.all(replicas.map(({ leadership }) => leadership.stop()))
  for (const store of [...opened, observer]) store.close()
})

async function startReplica(id: string): Promise<Replica> {
  const pausable = createPausable()
  const test = await openTestStore({ endpoints, root, wrap: pausable.wrap })
  opened.push(test)
  const leadership = startLeadership({
    store: test.store,
    clock,
    replica: id,
    url: `http://${id}`,
    timings: TENTH,
    onError: () => {},
  })
  const held = new Set<number>()
  leadership.subscribe(({ gained, lost }) => {
    for (const shard of lost) held.delete(shard)
    for (const shard of gained) held.add(shard)
  })
  const replica = { ...pausable, id, store: test.store, leadership, held }
  replicas.push(replica)
  return replica
}

/** The number of shards that each server replica owns according to the records. */
function shares(): { [owner: string]: number } {
  const counts: { [owner: string]: number } = {}
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const owner = observer.store.get(shardAddress(shard))?.record.owner ?? 'unowned'
    counts[owner] = (counts[owner] ?? 0) + 1
  }
  return counts
}

test('a single replica owns every shard, new replicas get their share, and leaving ones release theirs', async () => {
  const a = await startReplica('a')
  await expect.poll(shares).toEqual({ a: 64 })
  const b = await startReplica('b')
  await expect.poll(shares).toEqual({ a: 32, b: 32 })
  await startReplica('c')
  await expect.poll(shares).toEqual({ a: 22, b: 21, c: 21 })
  await expect.poll(() => replicas.map(({ held }) => held.size)).toEqual([22, 21, 21])
  // After a clean shutdown the shards move, and the record of the replica is gone.
  await b.leadership.stop()
  await expect.poll(() => shares().b ?? 0).toBe(0)
  await expect.poll(shares).toEqual({ a: 32, c: 32 })
  await expect.poll(() => observer.store.get(globally(serverReplicas, 'b'))).toBeUndefined()
  await expect.poll(() => a.held.size).toBe(32)
})

/** Makes fenced writes as long as the server replica believes to own the tenant, even if it no longer does. */
function keepWriting({ id, store, leadership }: Replica): () => Promise<void> {
  let going = true
  const writing = (async () => {
    while (going) {
      if (leadership.owns(tenant)) await writeWitness(store, leadership, tenant, id).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  })()
  return async () => {
    going = false
    await writing
  }
}

async function ownerOf(log: WitnessLog, other?: string): Promise<string> {
  return waitUntil(() => (log.owner !== other && log.writers.at(-1) === log.owner ? log.owner : undefined), {
    what: 'an owner writes',
    intervalMs: 5,
  })
}

const untilTaken = (log: WitnessLog, from: string) =>
  waitUntil(() => log.owner !== from, { what: 'the shard has another owner' })

test(`a paused owner loses its shards and writes nothing afterwards, ${ROUNDS} rounds`, async () => {
  const log = await watchWitness(observer.engine, root, tenant)
  const [a, b] = [await startReplica('a'), await startReplica('b')]
  const stops = [a, b].map(keepWriting)
  let owner = await ownerOf(log)
  for (let round = 0; round < ROUNDS; round += 1) {
    const paused = owner === a.id ? a : b
    paused.pause()
    await untilTaken(log, paused.id)
    owner = await ownerOf(log, paused.id)
    const before = log.counts.get(paused.id)
    paused.resume()
    // The resumed server replica notices that it was declared dead, and then owns a share of the shards again.
    await waitUntil(() => paused.held.size > 0 && paused.held.size < SHARDS, { what: 'it has shards again' })
    if (log.owner !== paused.id) expect(log.counts.get(paused.id)).toBe(before)
    owner = await ownerOf(log)
  }
  await Promise.all(stops.map((stop) => stop()))
  expect(log.breaches).toEqual([])
  log.close()
})

const LEADER = fileURLToPath(
  new URL('../../../packages/testkit/src/controllers/leader-process.ts', import.meta.url),
)

function startProcess(id: string, factor: number): ChildProcess {
  const [endpoint = ''] = endpoints
  return spawn(process.execPath, [LEADER, endpoint, root, id, tenant, String(factor)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Returns the writes that passed a fence although another process owned the shard. */
async function stopAndContinue(factor: number, rounds: number): Promise<readonly string[]> {
  const log = await watchWitness(observer.engine, root, tenant)
  const children = new Map(['p', 'q'].map((id) => [id, startProcess(id, factor)]))
  try {
    let owner = await ownerOf(log)
    for (let round = 0; round < rounds; round += 1) {
      const paused = owner
      children.get(paused)?.kill('SIGSTOP')
      await untilTaken(log, paused)
      owner = await ownerOf(log, paused)
      children.get(paused)?.kill('SIGCONT')
      await waitUntil(() => shares()[paused] === SHARDS / 2, { what: `${paused} has its share again` })
      owner = await ownerOf(log)
    }
    return log.breaches
  } finally {
    for (const child of children.values()) child.kill('SIGKILL')
    log.close()
  }
}

test('a process that is stopped and continued loses its shards and passes no fence', async () => {
  expect(await stopAndContinue(0.1, ROUNDS)).toEqual([])
})

test.runIf(LONG)('a process that is stopped loses its shards at the default timings', async () => {
  expect(await stopAndContinue(1, 5)).toEqual([])
})

test('a replica whose process was paused releases all shards, and acquires again those that it still owns', async () => {
  const a = await startReplica('a')
  await expect.poll(() => a.held.size).toBe(SHARDS)
  const changes: string[] = []
  a.leadership.subscribe(({ gained, lost }) => {
    if (lost.length > 0) changes.push(`lost ${lost.length}`)
    if (gained.length > 0) changes.push(`gained ${gained.length}`)
  })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TENTH.lagMs * 2)
  await expect.poll(() => a.held.size === SHARDS && changes.length > 1).toBe(true)
  // On a busy machine the process may be suspended once more.
  expect(changes.slice(0, 2)).toEqual(['lost 64', 'gained 64'])
})

test('two replicas that replace one dead owner divide its shards, and its record is deleted', async () => {
  const dead = await startReplica('dead')
  await expect.poll(shares).toEqual({ dead: 64 })
  await startReplica('b')
  await startReplica('c')
  await expect.poll(() => shares().dead).toBe(21)
  dead.pause()
  await expect.poll(shares).toEqual({ b: 32, c: 32 })
  await expect.poll(() => observer.store.get(globally(serverReplicas, 'dead'))).toBeUndefined()
})
