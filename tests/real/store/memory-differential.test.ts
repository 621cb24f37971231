// The store in memory is etcd: ten thousand random operations on both, and every answer, every reason of a refusal, every
// event of every watch and what is there in the end are the same. What the simulation proves rests on this.

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

const OPERATIONS = inRun(10_000, 200_000)
const SEED = Number(env.HOLDFAST_SEED ?? Date.now() % 2 ** 31)
/** Steps of one history, on average half of it. */
const LONGEST = 800
const EVERYTHING: KeyRange = { key: '\0', rangeEnd: '\0' }

/** Histories at the same time, each on an etcd of its own: most of the time is spent waiting for it. */
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

/** etcd empty and without history, and a twin that has come to the same revision. */
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

/** An answer or a refusal, in a form that can be compared: bytes as text, and of an error what callers go by. */
async function outcomeOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return { refused: error.reason, applied: error.applied }
  }
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

/** The assertion prints the difference, but takes far longer than the comparison. */
function expectSame(twin: unknown, real: unknown): void {
  const [left, right] = [comparable(twin), comparable(real)]
  if (!isDeepStrictEqual(left, right)) expect(left).toEqual(right)
}

/** Without these the comparison would have had nothing to compare. */
const SOME_OF_EACH = [
  ...['range', 'transact', 'compact', 'watch', 'unwatch', 'events told', 'watches ended by compaction'],
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

/** Where the store is now, from what it answered. */
function note(pair: Pair, answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return
  if ('refused' in answer) count(`refused: ${answer.refused}`)
  if ('revision' in answer) pair.reached = { ...pair.reached, revision: Number(answer.revision) }
}

/** A watch that has not yet been told all there is may be overtaken; when is a matter of time and not compared. */
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

/** Until each watch has been told everything up to now, or that it has ended. Then both must have heard the same. */
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

/** The first batch that is not one of whole revisions, in order, after those before it. */
function tornBatch({ batches }: RecordingWatch): unknown {
  let before = 0
  return batches.find(({ events, revision }) => {
    const revisions = events.map(({ kv }) => kv.modRevision)
    const inOrder = revisions.every((one, index) => one >= (revisions[index - 1] ?? before + 1))
    before = revision
    return !inOrder || revisions.at(-1) !== revision
  })
}

/** The present, what is left of the past, and all of the history that is left. */
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
      count('events told', real.events().length)
      count('watches ended by compaction', real.compacted.length)
      real.close()
    }
    pair.twin.close()
  }
}

/** Before any other, while one of them is new: nothing was ever written or compacted there. */
test('a new store is the same, down to revisions below the first', async () => {
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

test(`nothing tells the store in memory from etcd (from seed ${SEED})`, { timeout: 3_600_000 }, async () => {
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
