// Tests which listings show that the store was restored from a backup, by the heartbeats that they lack.

import { expect, test } from 'vitest'
import type { RecordIndex } from './cache/record-index.ts'
import { findLostHeartbeats } from './listed-chains.ts'

type Chains = { readonly [id: string]: readonly [count: number, at: string] }

const indexOf = (chains: Chains): RecordIndex =>
  ({
    keysOf: () => Object.keys(chains).map((id) => ({ id })),
    get(_collection: unknown, _tenant: unknown, id: string) {
      const [count, at] = chains[id] ?? []
      return count === undefined ? undefined : { record: { v: 1, count, at } }
    },
  }) as unknown as RecordIndex

const TODAY = '2026-11-19T00:00:00Z'
const LAST_MONTH = '2026-10-19T00:00:00Z'
const before: Chains = { a: [7, TODAY], b: [3, TODAY], old: [5, LAST_MONTH] }

test.each<[string, Chains, Chains]>([
  ['the first listing', {}, before],
  ['later heartbeats', before, { ...before, a: [9, TODAY] }],
  ['another server', before, { ...before, c: [1, TODAY] }],
  ['the deletion of a chain that was silent for a month', before, { a: [7, TODAY], b: [3, TODAY] }],
])('accepts %s', (_, cached, listed) => {
  expect(findLostHeartbeats(indexOf(cached), indexOf(listed))).toBeUndefined()
})

test.each<[string, Chains, string]>([
  ['an earlier heartbeat', { ...before, a: [6, TODAY] }, 'the cache has 7, and the store has 6'],
  ['no heartbeat of a server that runs', { a: [7, TODAY] }, 'the cache has 3, and the store has none'],
  [
    'an earlier heartbeat of a silent server',
    { ...before, old: [4, LAST_MONTH] },
    'has 5, and the store has 4',
  ],
])('refuses a listing with %s', (_, listed, text) => {
  expect(findLostHeartbeats(indexOf(before), indexOf(listed))?.message).toContain(text)
})
