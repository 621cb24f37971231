import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createKeyQueue, exponentialBackoff, type KeyQueue } from './key-queue.ts'

/** A work function for the queue whose runs end when the test calls `end`. */
function controlledWork() {
  const turns: { key: string; end: (error?: Error) => void }[] = []
  const work = (key: string) =>
    new Promise<void>((resolve, reject) => {
      turns.push({ key, end: (error) => (error === undefined ? resolve() : reject(error)) })
    })
  return { turns, work, keys: () => turns.map(({ key }) => key) }
}

const settled = () => vi.advanceTimersByTimeAsync(0)

describe('a key queue', () => {
  let queue: KeyQueue
  const errors: string[] = []
  const made = controlledWork()
  const { turns, work, keys } = made
  beforeEach(() => {
    vi.useFakeTimers()
    turns.length = 0
    errors.length = 0
    queue = createKeyQueue({
      concurrency: 2,
      work,
      backoffMs: (failures) => failures * 100,
      onError: (key) => errors.push(key),
    })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('runs keys in the order of arrival, up to its concurrency', async () => {
    for (const key of ['a', 'b', 'c']) queue.add(key)
    expect(keys()).toEqual(['a', 'b'])
    turns[0]?.end()
    await settled()
    expect(keys()).toEqual(['a', 'b', 'c'])
  })

  test('never runs one key twice at once, and runs it once more after changes', async () => {
    queue.add('a')
    for (let count = 0; count < 5; count += 1) queue.add('a')
    expect(keys()).toEqual(['a'])
    turns[0]?.end()
    await settled()
    expect(keys()).toEqual(['a', 'a'])
    turns[1]?.end()
    await settled()
    expect(keys()).toEqual(['a', 'a'])
    expect(queue.size).toBe(0)
  })

  test('backs off longer after each failure, until a change ends the backoff', async () => {
    queue.add('a')
    turns[0]?.end(new Error('no'))
    await vi.advanceTimersByTimeAsync(99)
    expect(keys()).toEqual(['a'])
    await vi.advanceTimersByTimeAsync(1)
    expect(keys()).toEqual(['a', 'a'])
    turns[1]?.end(new Error('no'))
    await vi.advanceTimersByTimeAsync(150)
    expect(keys()).toEqual(['a', 'a'])
    queue.add('a')
    expect(keys()).toEqual(['a', 'a', 'a'])
    turns[2]?.end()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(keys()).toEqual(['a', 'a', 'a'])
    expect(errors).toEqual(['a', 'a'])
  })

  test('starts nothing once stopped, and waits for running keys', async () => {
    for (const key of ['a', 'b', 'c']) queue.add(key)
    const stopped = queue.stop()
    queue.add('d')
    turns[0]?.end()
    turns[1]?.end()
    await stopped
    expect(keys()).toEqual(['a', 'b'])
  })
})

test('a backoff doubles up to the longest, with jitter down to half', () => {
  expect([1, 2, 3, 60].map(exponentialBackoff(100, 1_000, () => 1))).toEqual([100, 200, 400, 1_000])
  expect(exponentialBackoff(100, 1_000, () => 0)(1)).toBe(50)
})

test('a key queue pauses for other work of the process', async () => {
  let worked = 0
  const queue = createKeyQueue({
    concurrency: 64,
    work: async () => {
      worked += 1
      const until = performance.now() + 2
      while (performance.now() < until);
    },
    backoffMs: () => 0,
    onError: () => undefined,
  })
  for (let key = 0; key < 100; key += 1) queue.add(String(key))
  await new Promise((resolve) => setImmediate(resolve))
  expect(worked).toBeLessThan(50)
  await expect.poll(() => [worked, queue.size], { timeout: 15_000 }).toEqual([100, 0])
  await queue.stop()
})
