// Tests on real etcd that a batch has the same result as some serial order of its transactions. One test without the
// conflict rule shows that a violation would be found.

import { put, textOf, unconditionally, under } from '@holdfast/simulation/conformance/fixtures'
import { sharedEtcd, uniquePrefix } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEtcdClient } from '../../adapters/etcd/create-etcd-client.ts'
import type { Compare, KeyValueEngine } from '../../ports/key-value.ts'
import { type ConflictRule, createGroupCommit, type GroupCommitOptions, type Write } from './group-commit.ts'

const KEYS = ['a', 'b', 'c', 'd'] as const
type Key = (typeof KEYS)[number]

/** A compare: `untouched`: the key has not changed since the start of the test; `empty`: the key is absent. */
type Condition = { readonly key: Key; readonly is: 'absent' | 'present' | 'untouched' } | 'empty'
type Change = { readonly key: Key; readonly kind: 'put' | 'delete' } | 'clear'
interface Sketch {
  readonly conditions: readonly Condition[]
  readonly changes: readonly Change[]
}
interface Case {
  readonly present: readonly Key[]
  readonly sketches: readonly Sketch[]
}

const key = fc.constantFrom(...KEYS)
const condition: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ key, is: fc.constantFrom('absent', 'present', 'untouched') }) },
  { weight: 1, arbitrary: fc.constant('empty' as const) },
)
const change = fc.record({ key, kind: fc.constantFrom('put', 'put', 'delete') })
const changes: fc.Arbitrary<readonly Change[]> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.uniqueArray(change, { minLength: 1, maxLength: 2, selector: (one) => one.key }),
  },
  { weight: 1, arbitrary: fc.constant(['clear' as const]) },
)
const sketch = fc.record({ conditions: fc.array(condition, { maxLength: 2 }), changes })
const cases: fc.Arbitrary<Case> = fc.record({
  present: fc.uniqueArray(key),
  sketches: fc.array(sketch, { minLength: 2, maxLength: 5 }),
})

let engine: KeyValueEngine

beforeAll(async () => {
  engine = createEtcdClient({ endpoints: (await sharedEtcd()).endpoints })
})
afterAll(() => engine.close())

/**
 * The outcome of each transaction, and the version and value of each key; the value names the transaction that wrote it.
 */
interface Outcome {
  readonly committed: readonly boolean[]
  readonly state: { readonly [key: string]: string }
}

async function observe(one: Case, options: Partial<GroupCommitOptions>): Promise<Outcome> {
  const prefix = uniquePrefix()
  const start = await engine.transact(
    unconditionally(put('/elsewhere/'), ...one.present.map((name) => put(`${prefix}${name}/`, 'start'))),
  )
  const group = createGroupCommit(engine, options)
  const verdicts = await Promise.all(
    one.sketches.map((each, index) =>
      group.submit({
        compares: each.conditions.map((each) => compareOf(each, prefix, one, start.revision)),
        writes: each.changes.map((each) => writeOf(each, prefix, index)),
      }),
    ),
  )
  const { kvs } = await engine.range(under(prefix))
  return {
    committed: verdicts.map(({ kind }) => kind === 'committed'),
    state: Object.fromEntries(
      kvs.map((kv) => [kv.key.slice(prefix.length, -1), `${textOf(kv.value)} v${kv.version}`]),
    ),
  }
}

function compareOf(condition: Condition, prefix: string, { present }: Case, startedAt: number): Compare {
  if (condition === 'empty') return { ...under(prefix), target: 'createRevision', is: 'equal', value: 0 }
  const key = `${prefix}${condition.key}/`
  if (condition.is === 'absent') return { key, target: 'version', is: 'equal', value: 0 }
  if (condition.is === 'present') return { key, target: 'version', is: 'greater', value: 0 }
  const value = present.includes(condition.key) ? startedAt : 0
  return { key, target: 'modRevision', is: 'equal', value }
}

function writeOf(change: Change, prefix: string, index: number): Write {
  if (change === 'clear') return { kind: 'delete', ...under(prefix) }
  const key = `${prefix}${change.key}/`
  return change.kind === 'put'
    ? { kind: 'put', key, value: Buffer.from(`${index}`) }
    : { kind: 'delete', key }
}

/** The expected result of running the transactions one after another in the given order. */
function replay({ present, sketches }: Case, order: readonly number[]): Outcome {
  const keys = new Map<Key, { value: string; version: number }>()
  for (const name of present) keys.set(name, { value: 'start', version: 1 })
  const committed: boolean[] = []
  const holds = (condition: Condition): boolean => {
    if (condition === 'empty') return keys.size === 0
    const found = keys.get(condition.key)
    if (condition.is === 'untouched')
      return present.includes(condition.key) ? found?.value === 'start' : found === undefined
    return (condition.is === 'present') === (found !== undefined)
  }
  for (const index of order) {
    const { conditions = [], changes = [] } = sketches[index] ?? {}
    committed[index] = conditions.every(holds)
    if (committed[index]) for (const one of changes) applyChange(keys, one, index)
  }
  const state = Object.fromEntries(
    [...keys].map(([name, { value, version }]) => [name, `${value} v${version}`]),
  )
  return { committed, state }
}

function applyChange(
  keys: Map<Key, { value: string; version: number }>,
  change: Change,
  index: number,
): void {
  if (change === 'clear') keys.clear()
  else if (change.kind === 'delete') keys.delete(change.key)
  else keys.set(change.key, { value: `${index}`, version: (keys.get(change.key)?.version ?? 0) + 1 })
}

function* permutations(items: readonly number[]): Generator<readonly number[]> {
  if (items.length <= 1) yield items
  for (const first of items)
    for (const rest of permutations(items.filter((one) => one !== first)))
      if (items.length > 1) yield [first, ...rest]
}

function isSerial(one: Case, seen: Outcome): boolean {
  const text = canonical(seen)
  for (const order of permutations(one.sketches.map((_, index) => index)))
    if (canonical(replay(one, order)) === text) return true
  return false
}

const canonical = ({ committed, state }: Outcome): string =>
  JSON.stringify([committed, Object.entries(state).sort(([left], [right]) => (left < right ? -1 : 1))])

const noRule = (): ConflictRule => ({ admit: () => true })

async function findViolation(options: Partial<GroupCommitOptions>, numRuns: number) {
  const property = fc.asyncProperty(cases, async (one) => isSerial(one, await observe(one, options)))
  return fc.check(property, { numRuns, endOnFailure: true })
}

describe('a batch on real etcd equals some serial order', () => {
  test.each([
    ['as shipped', {}],
    ['two to a batch, four in flight', { maxTransactions: 2, maxInFlight: 4 }],
    ['switched off', { maxTransactions: 1, maxInFlight: 4 }],
  ])('%s', async (_, options) => {
    const details = await findViolation(options, LONG ? 5_000 : 250)
    expect(details.failed, fc.defaultReportMessage(details)).toBe(false)
  })

  test('finds a batch that equals no serial order once the conflict rule is removed', async () => {
    const details = await findViolation({ conflictRule: noRule }, 2_000)
    expect(details.failed).toBe(true)
  })
})

describe('write skew in one batch (if no x, put y; if no y, put x)', () => {
  const skew: Case = {
    present: [],
    sketches: [
      { conditions: [{ key: 'a', is: 'absent' }], changes: [{ key: 'b', kind: 'put' }] },
      { conditions: [{ key: 'b', is: 'absent' }], changes: [{ key: 'a', kind: 'put' }] },
    ],
  }

  test('refuses one of the two transactions', async () => {
    const seen = await observe(skew, {})
    expect(seen.committed.filter(Boolean)).toHaveLength(1)
    expect(isSerial(skew, seen)).toBe(true)
  })

  test('commits both transactions once the conflict rule is removed', async () => {
    const seen = await observe(skew, { conflictRule: noRule })
    expect(seen.committed).toEqual([true, true])
    expect(isSerial(skew, seen)).toBe(false)
  })
})

test('fails only the invalid transaction of a batch on real etcd', async () => {
  const prefix = uniquePrefix()
  const group = createGroupCommit(engine)
  const good = (name: string) => group.submit({ compares: [], writes: [put(`${prefix}${name}/`) as Write] })
  // 200 writes are more operations than etcd accepts in one transaction.
  const writes = Array.from({ length: 200 }, (_, index) => put(`${prefix}bad/${index}/`) as Write)
  const submitted = [good('a'), group.submit({ compares: [], writes }), good('b')]
  const huge = { kind: 'put', key: `${prefix}huge/`, value: new Uint8Array(2_000_000) } as const
  const outcomes = await Promise.allSettled([
    ...submitted,
    group.submit({ compares: [], writes: [huge] }),
    good('c'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  const { kvs } = await engine.range(under(prefix))
  expect(kvs.map((kv) => kv.key.slice(prefix.length))).toEqual(['a/', 'b/', 'c/'])
})
