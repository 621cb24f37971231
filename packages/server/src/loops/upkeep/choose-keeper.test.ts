import { expect, test } from 'vitest'
import { createKeeper, type KeeperDeps } from './choose-keeper.ts'

/** A store with an owner of shard 0 and the registered servers a, b and c, of which b leads no shards. */
function keeperOf(replica: string, owner: string | undefined) {
  const facts = { full: false, now: 0 }
  const store = {
    fresh: async () => {},
    get: () => (owner === undefined ? undefined : { record: { owner } }),
    listWithIds: () => ['c', 'b', 'a'].map((id) => ({ id, record: { leads: id !== 'b' } })),
  }
  const deps = { replica, isFull: () => facts.full, now: () => facts.now }
  const isKeeper = createKeeper({ ...deps, store: store as unknown as KeeperDeps['store'] })
  return async (full: boolean, now: number) => {
    Object.assign(facts, { full, now })
    return isKeeper()
  }
}

test('the owner of shard 0 keeps the store', async () => {
  expect(await keeperOf('a', 'a')(false, 0)).toBe(true)
  expect(await keeperOf('a', 'c')(false, 0)).toBe(false)
  expect(await keeperOf('a', undefined)(false, 0)).toBe(false)
})

test('while etcd refuses writes, the others take over one after another, because no new owner can be written', async () => {
  const [a, b, c] = [keeperOf('a', 'gone'), keeperOf('b', 'gone'), keeperOf('c', 'gone')]
  const all = async (now: number) => [await a(true, now), await b(true, now), await c(true, now)]
  expect(await all(0)).toEqual([false, false, false])
  expect(await all(59_999)).toEqual([false, false, false])
  expect(await all(60_000)).toEqual([true, false, false])
  expect(await all(120_000)).toEqual([true, false, true])
  expect(await a(false, 130_000)).toBe(false)
  expect(await a(true, 140_000)).toBe(false)
})
