import { expect, test } from 'vitest'
import { createAnswerCache } from './answer-cache.ts'

function setUp(capacity = 10) {
  const clock = { now: 0 }
  const asked: string[] = []
  const cache = createAnswerCache<string>({
    nowMs: () => clock.now,
    keepMs: (answer) => (answer === 'short' ? 0 : 100),
    capacity,
  })
  const ask = (key: string, answer = key) =>
    cache.of(key, async () => {
      asked.push(key)
      return answer
    })
  return { clock, asked, cache, ask }
}

test('requests in progress are shared, and results are cached for their time', async () => {
  const { clock, asked, ask } = setUp()
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a', 'a', 'b'])
  clock.now = 99
  await ask('a')
  expect(asked).toEqual(['a', 'b'])
  clock.now = 100
  await ask('a')
  expect(asked).toEqual(['a', 'b', 'a'])
})

test('uncacheable results and failures are requested again', async () => {
  const { asked, cache, ask } = setUp()
  await ask('a', 'short')
  await ask('a', 'short')
  expect(asked).toEqual(['a', 'a'])
  await expect(cache.of('f', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await cache.of('f', async () => 'yes')).toBe('yes')
})

test('a full cache drops the oldest result', async () => {
  const { asked, ask } = setUp(2)
  for (const key of ['a', 'b', 'c', 'b', 'a']) await ask(key)
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
})
