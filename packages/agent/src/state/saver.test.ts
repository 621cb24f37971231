// A write that fails is repeated until it succeeds, and reported once.

import { waitUntil } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { createSaver } from './saver.ts'

function world() {
  const seen = { writes: 0, failures: [] as unknown[], saved: 0, fails: true }
  const saver = createSaver({
    async write() {
      seen.writes += 1
      if (seen.fails) throw new Error('ENOSPC: no space left on device')
    },
    onFailed: (error) => seen.failures.push(error),
    onSaved: () => {
      seen.saved += 1
    },
    retryMs: 5,
  })
  return { seen, saver }
}

test('a failed write is repeated until it succeeds, and each failure in a row is reported once', async () => {
  const { seen, saver } = world()
  saver.save()
  await waitUntil(() => seen.writes > 2, { what: 'the write is repeated' })
  expect([seen.failures.length, seen.saved]).toEqual([1, 0])
  seen.fails = false
  await waitUntil(() => seen.saved === 1, { what: 'the write succeeds' })
  await saver.close()
})

test('a closed saver repeats nothing', async () => {
  const { seen, saver } = world()
  saver.save()
  await saver.close()
  const { writes } = seen
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(seen.writes).toBe(writes)
})
