import { expect, test } from 'vitest'
import { createHeartbeatWatch } from './heartbeat-watch.ts'
import { SHARDS, shardOf } from './shard-of.ts'
import { planHandOver } from './share-out.ts'

const allOf = (owner: string) => new Map(Array.from({ length: SHARDS }, (_, shard) => [shard, owner]))

/** Everybody plans on the same view and acts, until nobody has anything to give. */
function settle(owners: Map<number, string>, live: readonly string[]): number[] {
  for (let round = 0; round < 10; round += 1)
    for (const { shard, to } of live.flatMap((me) => planHandOver(new Map(owners), live, me)))
      owners.set(shard, to)
  return live.map((id) => [...owners.values()].filter((owner) => owner === id).length)
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

test('who has its share gives nothing; who is not live gets nothing', () => {
  expect(planHandOver(allOf('a'), ['a'], 'a')).toEqual([])
  expect(planHandOver(allOf('a'), ['a', 'b'], 'b')).toEqual([])
})

test('a tenant has one shard, always the same, and tenants are spread', () => {
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

test('silence is counted on our own clock, from when we first saw the heartbeat, and not while we were away', () => {
  const watch = createHeartbeatWatch(12)
  watch.look([{ id: 'a', modRevision: 1 }], 100)
  expect(watch.isSilent('a', 111)).toBe(false)
  expect(watch.isSilent('a', 112)).toBe(true)
  watch.look([{ id: 'a', modRevision: 2 }], 112)
  expect(watch.isSilent('a', 123)).toBe(false)
  watch.look([{ id: 'a', modRevision: 2 }], 123)
  watch.restart(130)
  expect(watch.isSilent('a', 141)).toBe(false)
  expect(watch.isSilent('a', 142)).toBe(true)
  expect(watch.live(142)).toEqual([])
  expect(watch.isSilent('unknown', 500)).toBe(false)
})
