// The in-memory store behaves like etcd: over ten thousand random operations every response, error reason, watch event
// and the final state are equal. The results of simulations depend on this.

import { env } from 'node:process'
import { isDeepStrictEqual } from 'node:util'
import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyRange, KeyValueEngine } from '@holdfast/server/ports/key-value'
import { EngineError } from '@holdfast/server/ports/key-value'
import {
  put,
  type RecordingWatch,
  recordWatch,
  unconditionally,
} from '@holdfast/simulation/conformance/fixtures'
import { arbitraryStep, type Step } from '@holdfast/simulation/memory/arbitrary-steps.fixture'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  type Reached,
  resolveMoment,
  resolveRange,
  resolveTransaction,
} from '@holdfast/simulation/memory/resolve-sketch.fixture'
import { type EtcdCluster, startEtcd, waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

const OPERATIONS = inRun(4_000, 200_000)
const SEED = Number(env.HOLDFAST_SEED ?? Date.now() % 2 ** 31)
/** Maximum number of steps in one random history; the average is half of this. */
const LONGEST = 800
const EVERYTHING: KeyRange = { key: '\0', rangeEnd: '\0' }

/** Number of histories that run concurrently, each on its own etcd, because most of the time is spent waiting. */
const LANES = 2

let clusters: readonly EtcdCluster[]
let engines: readonly KeyValueEngine[]

beforeAll(async () => {
  clusters = await Promise.all(Array.from({ length: LANES }, () => startEtcd()))
  engines = clusters.map(({ endpoints }) => createEtcdClient({ endpoints }))
})
afterAll(async () => {
  for (const engine of engines ?? []) engine.close()
  await Promise.all((clusters ?? []).map((cluster) => cluster.stop()))
})

interface WatchPair {
  readonly startRevision: number
  readonly real: RecordingWatch
  readonly twin: RecordingWatch
}

interface Pair {
  readonly real: KeyValueEngine
  readonly twin: KeyValueEngine
  readonly watches: WatchPair[]
  reached: Reached
}

/** Opens an empty etcd without history, and an in-memory store at the same revision. */
async function openPair(real: KeyValueEngine): Promise<Pair> {
  await real.transact(unconditionally({ kind: 'delete', ...EVERYTHING }))
  await real.transact(unconditionally(put('/')))
  const { revision } = await real.transact(unconditionally({ kind: 'delete', key: '/' }))
  await real.compact(revision)
  const keyspace = createMemoryKeyspace()
  while (keyspace.revision < revision - 1) keyspace.transact(unconditionally(put('/')))
  keyspace.transact(unconditionally({ kind: 'delete', key: '/' }))
  keyspace.compact(revision)
  return { real, twin: connectMemory(keyspace), watches: [], reached: { revision, compacted: revision } }
}

/** A response or an error in a comparable form: bytes as text, and the fields of an error that callers use. */
async function outcomeOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    return withoutCluster(await asked)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return { refused: error.reason, applied: error.applied }
  }
}

/** Each etcd has an id of its own in its responses, and a store in memory has none. */
function withoutCluster(response: unknown): unknown {
  if (typeof response !== 'object' || response === null || !('clusterId' in response)) return response
  const { clusterId: _, ...rest } = response
  return rest
}

function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, comparable(one)]))
}

async function askBoth(pair: Pair, ask: (engine: KeyValueEngine) => Promise<unknown>): Promise<unknown> {
  const [real, twin] = await Promise.all([outcomeOf(ask(pair.real)), outcomeOf(ask(pair.twin))])
  expectSame(twin, real)
  return real
}

/** Compares two values, and calls the slow assertion, which prints the difference, only if they differ. */
function expectSame(twin: unknown, real: unknown): void {
  const [left, right] = [comparable(twin), comparable(real)]
  if (!isDeepStrictEqual(left, right)) expect(left).toEqual(right)
}

/** Outcomes that must each have occurred at least once, or the comparison proves nothing. */
const SOME_OF_EACH = [
  ...['range', 'transact', 'compact', 'watch', 'unwatch', 'events delivered', 'watches ended by compaction'],
  ...['refused: invalid', 'refused: compacted', 'refused: too_large'],
]
const counts = new Map<string, number>()
const count = (what: string, times = 1) => counts.set(what, (counts.get(what) ?? 0) + times)

async function takeStep(pair: Pair, step: Step): Promise<void> {
  const { reached } = pair
  count(step.step)
  if (step.step === 'watch') openWatch(pair, step.range, Math.max(1, resolveMoment(step.from, reached)))
  else if (step.step === 'unwatch') closeWatch(pair, step.which)
  else if (step.step === 'compact') await compactBoth(pair, resolveMoment(step.at, reached))
  else {
    const ask = (engine: KeyValueEngine) =>
      step.step === 'range'
        ? engine.range(resolveRange(step.range, reached))
        : engine.transact(resolveTransaction(step.transaction, reached))
    note(pair, await askBoth(pair, ask))
  }
}

/** Counts the outcome of a response, and records the newest revision of the two stores. */
function note(pair: Pair, answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return
  if ('refused' in answer) count(`refused: ${answer.refused}`)
  if ('revision' in answer) pair.reached = { ...pair.reached, revision: Number(answer.revision) }
}

/** Compacts both stores after their watches caught up, because the time at which compaction ends a watch may differ. */
async function compactBoth(pair: Pair, revision: number): Promise<void> {
  await catchUp(pair)
  const answer = await askBoth(pair, (engine) => engine.compact(revision))
  if (answer === undefined) pair.reached = { ...pair.reached, compacted: revision }
  note(pair, answer)
}

function openWatch(pair: Pair, range: KeyRange, startRevision: number): void {
  const [real, twin] = [pair.real, pair.twin].map((engine) => {
    try {
      return recordWatch(engine, range, startRevision)
    } catch (error) {
      expect(error).toMatchObject({ name: 'EngineError', reason: 'invalid', applied: 'no' })
      return undefined
    }
  })
  expect(twin === undefined).toBe(real === undefined)
  if (real !== undefined && twin !== undefined) pair.watches.push({ startRevision, real, twin })
}

function closeWatch(pair: Pair, which: number): void {
  const [closed] = pair.watches.splice(which, 1)
  closed?.real.close()
  closed?.twin.close()
}

/** Waits until each watch has caught up or ended, and checks that both stores sent the same events. */
async function catchUp({ watches, reached }: Pair): Promise<void> {
  const heard = (watch: RecordingWatch) =>
    watch.compacted.length > 0 || (watch.progress.at(-1) ?? 0) >= reached.revision
  const due = watches.filter(({ startRevision }) => startRevision <= reached.revision + 1)
  for (const watch of due.flatMap(({ real, twin }) => [real, twin])) watch.requestProgress()
  await waitUntil(() => due.every(({ real, twin }) => heard(real) && heard(twin)), {
    what: 'every watch has caught up',
    intervalMs: 5,
  })
  for (const { real, twin } of watches) {
    expectSame([twin.events(), twin.compacted], [real.events(), real.compacted])
    expect([tornBatch(real), tornBatch(twin)]).toEqual([undefined, undefined])
  }
}

/** The first batch of watch events that does not consist of whole revisions in ascending order. */
function tornBatch({ batches }: RecordingWatch): unknown {
  let before = 0
  return batches.find(({ events, revision }) => {
    const revisions = events.map(({ kv }) => kv.modRevision)
    const inOrder = revisions.every((one, index) => one >= (revisions[index - 1] ?? before + 1))
    before = revision
    return !inOrder || revisions.at(-1) !== revision
  })
}

/** Compares the current records of both stores, their older revisions, and the history that is left. */
async function compareEnds(pair: Pair): Promise<void> {
  const { revision, compacted } = pair.reached
  openWatch(pair, EVERYTHING, compacted)
  await catchUp(pair)
  for (let past = revision; past >= Math.max(compacted, revision - 10); past -= 1)
    await askBoth(pair, (engine) => engine.range({ ...EVERYTHING, revision: past }))
  await askBoth(pair, (engine) => engine.range(EVERYTHING))
}

async function compareHistory(engine: KeyValueEngine, steps: readonly Step[]): Promise<void> {
  const pair = await openPair(engine)
  try {
    for (const step of steps) await takeStep(pair, step)
    await compareEnds(pair)
  } finally {
    for (const { real } of pair.watches) {
      count('events delivered', real.events().length)
      count('watches ended by compaction', real.compacted.length)
      real.close()
    }
    pair.twin.close()
  }
}

/** This test runs first, while nothing was ever written to or compacted in either store. */
test('a new in-memory store equals a new etcd, down to revisions below the first', async () => {
  const [real] = engines
  if (real === undefined) throw new Error('etcd did not start')
  const twin = connectMemory(createMemoryKeyspace())
  const pair: Pair = { real, twin, watches: [], reached: { revision: 1, compacted: 0 } }
  const ask = (act: (engine: KeyValueEngine) => Promise<unknown>) => askBoth(pair, act)
  const readAll = async () => {
    for (const revision of [-2, -1, 0, 1, 2]) {
      await ask((engine) => engine.range({ key: '/', revision }))
      await ask((engine) => engine.transact(unconditionally({ kind: 'range', key: '/', revision })))
      await ask((engine) =>
        engine.transact(unconditionally({ kind: 'range', key: '/', revision }, put('/x/'))),
      )
    }
  }
  await readAll()
  for (const revision of [-2, -1, 0, 0, 1, 1, 1_000]) {
    await ask((engine) => engine.compact(revision))
    await readAll()
  }
  openWatch(pair, EVERYTHING, 1)
  await catchUp({ ...pair, reached: { revision: (await twin.range({ key: '/' })).revision, compacted: 1 } })
  for (const watch of pair.watches) watch.real.close()
})

const history = fc.array(arbitraryStep, { minLength: 1, maxLength: LONGEST, size: 'max' })

test(`the store in memory and etcd cannot be distinguished (from seed ${SEED})`, {
  timeout: 3_600_000,
}, async () => {
  const begun = performance.now()
  let [done, seed] = [0, SEED]
  const runLane = async (engine: KeyValueEngine): Promise<void> => {
    const property = fc.asyncProperty(history, async (steps) => {
      await compareHistory(engine, steps)
      done += steps.length
    })
    while (done < OPERATIONS) await fc.assert(property, { numRuns: 3, seed: seed++ })
  }
  await Promise.all(engines.map(runLane))
  const kinds = [...counts].map(([kind, times]) => `${kind} ${times}`).join(', ')
  process.stdout.write(`${done} operations in ${Math.round(performance.now() - begun)} ms: ${kinds}\n`)
  expect([...counts.keys()]).toEqual(expect.arrayContaining(SOME_OF_EACH))
})
