import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createHoldBack, HELD_MS, MOST_HELD } from './hold-back.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Counts which of the promises have resolved so far. */
function resolvedOf(promises: readonly Promise<void>[]): () => Promise<number> {
  let count = 0
  for (const each of promises)
    void each.then(() => {
      count += 1
    })
  return async () => {
    await vi.advanceTimersByTimeAsync(0)
    return count
  }
}

test('a rejection is sent after its delay', async () => {
  const hold = createHoldBack()
  const resolved = resolvedOf([hold('acme')])
  await vi.advanceTimersByTimeAsync(HELD_MS - 1)
  expect(await resolved()).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(await resolved()).toBe(1)
})

test('a tenant has a limited number of waiting rejections, and another tenant has its own', async () => {
  const hold = createHoldBack()
  const [held, further] = [MOST_HELD, 7]
  const resolved = resolvedOf(Array.from({ length: held + further }, () => hold('acme')))
  expect(await resolved()).toBe(further)
  const other = resolvedOf([hold('globex')])
  expect(await other()).toBe(0)
  await vi.advanceTimersByTimeAsync(HELD_MS)
  expect([await resolved(), await other()]).toEqual([held + further, 1])
  const next = resolvedOf([hold('acme')])
  expect(await next()).toBe(0)
})
