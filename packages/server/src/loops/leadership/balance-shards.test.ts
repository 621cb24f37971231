import { expect, test } from 'vitest'
import { planHandOver } from './balance-shards.ts'
import { createHeartbeatWatch } from './heartbeat-watch.ts'
import { SHARDS, shardOf } from './shard-of.ts'

const allOf = (owner: string) => Array.from<string>({ length: SHARDS }).fill(owner)

/** Lets every server replica plan from the same view and hand over shards, until none has a shard to hand over. */
function settle(owners: string[], live: readonly string[]): number[] {
  for (let round = 0; round < 10; round += 1)
    for (const { shard, to } of live.flatMap((me) => planHandOver([...owners], live, me))) owners[shard] = to
  return live.map((id) => owners.filter((owner) => owner === id).length)
}

test.each([
  [
    ['a', 'b'],
    [32, 32],
  ],
  [
    ['a', 'b', 'c'],
    [22, 21, 21],
  ],
  [
    ['b', 'c', 'd', 'e', 'f'],
    [13, 13, 13, 13, 12],
  ],
])('shards are spread evenly over %j', (live, shares) => {
  const owner = live[0] ?? ''
  expect(settle(allOf(owner), live)).toEqual(shares)
})

test('a replica within its share hands over nothing, and a stale replica receives no shard', () => {
  expect(planHandOver(allOf('a'), ['a'], 'a')).toEqual([])
  expect(planHandOver(allOf('a'), ['a', 'b'], 'b')).toEqual([])
})

test('a tenant always has the same shard, and tenants are spread over all shards', () => {
  const tenant = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}` as never
  expect(shardOf(tenant(1))).toBe(shardOf(tenant(1)))
  const counts = new Map<number, number>()
  for (let index = 0; index < 6_400; index += 1) {
    const shard = shardOf(tenant(index))
    counts.set(shard, (counts.get(shard) ?? 0) + 1)
  }
  expect(counts.size).toBe(SHARDS)
  expect(Math.max(...counts.values())).toBeLessThan(300)
})

test('a heartbeat is stale by the local clock since it was first seen, and timers restart after a suspension', () => {
  const watch = createHeartbeatWatch(12)
  watch.observe([{ id: 'a', modRevision: 1 }], 100)
  expect(watch.isStale('a', 111)).toBe(false)
  expect(watch.isStale('a', 112)).toBe(true)
  watch.observe([{ id: 'a', modRevision: 2 }], 112)
  expect(watch.isStale('a', 123)).toBe(false)
  watch.observe([{ id: 'a', modRevision: 2 }], 123)
  watch.restart(130)
  expect(watch.isStale('a', 141)).toBe(false)
  expect(watch.isStale('a', 142)).toBe(true)
  expect(watch.live(142)).toEqual([])
  expect(watch.isStale('unknown', 500)).toBe(false)
})
