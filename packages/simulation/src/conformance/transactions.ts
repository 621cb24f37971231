// Conformance tests of transactions: verdicts, results, nesting, and which operations raise the revision.

import type { Compare, KeyValueEngine, Operation, TransactionRequest } from '@holdfast/server/ports/key-value'
import { uniquePrefix } from '@holdfast/testkit'
import { describe, expect, test } from 'vitest'
import { absent, put, textOf, unconditionally, under, write } from './fixtures.ts'

const nested = (transaction: TransactionRequest): Operation => ({ kind: 'transaction', transaction })
const create = (key: string, value = ''): TransactionRequest => ({
  compares: [absent(key)],
  success: [put(key, value)],
  failure: [{ kind: 'range', key }],
})

export function describeTransactions(engine: () => KeyValueEngine): void {
  describe('transact', () => {
    test('creates a key once; the second attempt fails, changes nothing and sees the first', async () => {
      const key = uniquePrefix()
      const first = await engine().transact(create(key, 'first'))
      expect(first).toMatchObject({
        succeeded: true,
        revision: expect.any(Number),
        results: [{ kind: 'put' }],
      })
      const second = await engine().transact(create(key, 'second'))
      expect(second.succeeded).toBe(false)
      expect(second.revision).toBe(first.revision)
      const [result] = second.results
      expect(result?.kind === 'range' && result.range.kvs.map((kv) => textOf(kv.value))).toEqual(['first'])
    })

    test('all writes of one transaction share one revision, the next one after the last', async () => {
      const prefix = uniquePrefix()
      const before = await write(engine(), `${prefix}a/`)
      const { revision } = await engine().transact(unconditionally(put(`${prefix}b/`), put(`${prefix}c/`)))
      expect(revision).toBe(before + 1)
      const { kvs } = await engine().range(under(prefix))
      expect(kvs.map((kv) => kv.modRevision)).toEqual([before, revision, revision])
    })

    test('does not raise the revision if nothing changes', async () => {
      const key = uniquePrefix()
      const before = await write(engine(), key)
      const reads = await engine().transact(unconditionally({ kind: 'range', key }))
      const deletes = await engine().transact(unconditionally({ kind: 'delete', key: `${key}absent/` }))
      const fails = await engine().transact({ compares: [absent(key)], success: [put(key)], failure: [] })
      expect([reads, deletes, fails].map((one) => one.revision)).toEqual([before, before, before])
    })

    test('a range and a put of the same key see the state in the order of the operations', async () => {
      const key = uniquePrefix()
      await write(engine(), key, 'old')
      const { results } = await engine().transact(
        unconditionally({ kind: 'range', key }, put(key, 'new'), { kind: 'range', key }),
      )
      const seen = results.flatMap((one) => (one.kind === 'range' ? one.range.kvs : []))
      expect(seen.map((kv) => textOf(kv.value))).toEqual(['old', 'new'])
    })

    test('deletes a range and reports how many keys were deleted', async () => {
      const prefix = uniquePrefix()
      await engine().transact(unconditionally(put(`${prefix}a/`), put(`${prefix}b/`)))
      const { results } = await engine().transact(unconditionally({ kind: 'delete', ...under(prefix) }))
      expect(results).toEqual([{ kind: 'delete', deleted: 2 }])
      expect(await engine().range(under(prefix))).toMatchObject({ count: 0 })
    })

    describeCompares(engine)
    describeNesting(engine)
  })
}

function describeCompares(engine: () => KeyValueEngine): void {
  const cases: [Compare['is'], number, boolean][] = [
    ['equal', 0, true],
    ['equal', 1, false],
    ['notEqual', 0, false],
    ['notEqual', 1, true],
    ['less', 0, false],
    ['less', 1, true],
    ['greater', 0, false],
    ['greater', -1, true],
  ]
  for (const target of ['version', 'modRevision', 'createRevision'] as const) {
    test.each(cases)(`${target} is %s actual + %i: %s`, async (is, offset, verdict) => {
      const key = uniquePrefix()
      const createRevision = await write(engine(), key)
      const modRevision = await write(engine(), key)
      const actual = { version: 2, modRevision, createRevision }[target]
      const compares = [{ key, target, is, value: actual + offset }]
      expect(await engine().transact({ compares, success: [], failure: [] })).toMatchObject({
        succeeded: verdict,
      })
    })
  }

  test('all compares must hold', async () => {
    const prefix = uniquePrefix()
    await write(engine(), `${prefix}there/`)
    const compares = [absent(`${prefix}free/`), absent(`${prefix}there/`)]
    expect(await engine().transact({ compares, success: [], failure: [] })).toMatchObject({
      succeeded: false,
    })
  })

  test('a compare over a range must hold for every key in it, and holds for none', async () => {
    const prefix = uniquePrefix()
    const noneInRange = {
      compares: [{ ...under(prefix), target: 'createRevision', is: 'equal', value: 0 } as const],
      success: [],
      failure: [],
    }
    expect(await engine().transact(noneInRange)).toMatchObject({ succeeded: true })
    await write(engine(), `${prefix}a/`)
    expect(await engine().transact(noneInRange)).toMatchObject({ succeeded: false })
  })
}

function describeNesting(engine: () => KeyValueEngine): void {
  test('nested transactions have their own verdicts and share one revision', async () => {
    const prefix = uniquePrefix()
    await write(engine(), `${prefix}taken/`, 'theirs')
    const both = unconditionally(nested(create(`${prefix}free/`)), nested(create(`${prefix}taken/`)))
    const { revision, results } = await engine().transact(both)
    expect(results).toMatchObject([
      { kind: 'transaction', transaction: { succeeded: true, revision, results: [{ kind: 'put' }] } },
      { kind: 'transaction', transaction: { succeeded: false, revision, results: [{ kind: 'range' }] } },
    ])
  })

  test('nested transactions nest, and carry the results of their operations', async () => {
    const prefix = uniquePrefix()
    await write(engine(), `${prefix}old/`, 'x')
    const inner = unconditionally(
      { kind: 'range', key: `${prefix}old/` },
      { kind: 'delete', key: `${prefix}old/` },
    )
    const { results } = await engine().transact(unconditionally(nested(unconditionally(nested(inner)))))
    const [outer] = results
    const [middle] = outer?.kind === 'transaction' ? outer.transaction.results : []
    expect(middle).toMatchObject({
      kind: 'transaction',
      transaction: {
        results: [
          { kind: 'range', range: { count: 1 } },
          { kind: 'delete', deleted: 1 },
        ],
      },
    })
  })

  test('all nested compares are evaluated before any nested write', async () => {
    const prefix = uniquePrefix()
    const [x, y] = [`${prefix}x/`, `${prefix}y/`]
    const ifNoX = nested({ compares: [absent(x)], success: [put(y)], failure: [] })
    const ifNoY = nested({ compares: [absent(y)], success: [put(x)], failure: [] })
    const { results } = await engine().transact(unconditionally(ifNoX, ifNoY))
    expect(results).toMatchObject([
      { transaction: { succeeded: true } },
      { transaction: { succeeded: true } },
    ])
  })
}
