// Properties of the in-memory store that are invisible in engine responses, or that differ from etcd.

import { describe, expect, test } from 'vitest'
import { put, unconditionally } from '../conformance/fixtures.ts'
import { createMemoryKeyspace } from './keyspace.ts'

describe('what is remembered', () => {
  const remove = (key: string) => unconditionally({ kind: 'delete', key })

  test('grows with every version and shrinks by compaction to what can still be read', () => {
    const keyspace = createMemoryKeyspace()
    for (let round = 0; round < 10; round += 1) keyspace.transact(unconditionally(put('/kept/', '12345')))
    keyspace.transact(unconditionally(put('/gone/', '12345')))
    keyspace.transact(remove('/gone/'))
    expect(keyspace.bytes).toBe(10 * 11 + 11 + 6)
    keyspace.compact(keyspace.revision)
    expect(keyspace.bytes).toBe(11 + 6)
    keyspace.transact(unconditionally(put('/kept/', '12345')))
    keyspace.compact(keyspace.revision)
    expect(keyspace.bytes).toBe(11)
  })

  test('is nothing for keys that came and went before the compaction', () => {
    const keyspace = createMemoryKeyspace()
    for (let round = 0; round < 100; round += 1) {
      keyspace.transact(unconditionally(put(`/${round}/`)))
      keyspace.transact(remove(`/${round}/`))
    }
    keyspace.transact(unconditionally(put('/last/')))
    keyspace.compact(keyspace.revision)
    expect(keyspace.bytes).toBe(6)
    expect(keyspace.range({ key: '\0', rangeEnd: '\0', revision: keyspace.revision })).toMatchObject({
      count: 1,
    })
  })
})

test('rejects an empty end of a range, because etcd reads it as one key or as all that follow', () => {
  const keyspace = createMemoryKeyspace()
  const refused = expect.objectContaining({ name: 'EngineError', reason: 'invalid', applied: 'no' })
  const range = { key: '/a/', rangeEnd: '' }
  expect(() => keyspace.range(range)).toThrow(refused)
  expect(() => keyspace.transact(unconditionally({ kind: 'range', ...range }))).toThrow(refused)
  expect(() => keyspace.transact(unconditionally({ kind: 'delete', ...range }))).toThrow(refused)
  const compares = [{ ...range, target: 'version', is: 'equal', value: 0 } as const]
  expect(() => keyspace.transact({ compares, success: [], failure: [] })).toThrow(refused)
})
