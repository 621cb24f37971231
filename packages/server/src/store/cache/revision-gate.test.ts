import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CacheBehindError, createRevisionGate } from './revision-gate.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const never = () => {}

test('does not wait for a revision that is already reached', async () => {
  const gate = createRevisionGate()
  gate.advance(7)
  await gate.waitFor(7, 0, never)
  expect(vi.getTimerCount()).toBe(0)
})

test('releases each waiter at its own revision and not before', async () => {
  const gate = createRevisionGate()
  const passed: number[] = []
  for (const wanted of [3, 1, 2]) void gate.waitFor(wanted, 1_000, never).then(() => passed.push(wanted))
  gate.advance(1)
  await vi.advanceTimersByTimeAsync(0)
  expect(passed).toEqual([1])
  gate.advance(3)
  await vi.advanceTimersByTimeAsync(0)
  expect(passed.sort()).toEqual([1, 2, 3])
  expect(vi.getTimerCount()).toBe(0)
})

test('keeps the gate at the highest revision it has reached', () => {
  const gate = createRevisionGate()
  gate.advance(5)
  gate.advance(4)
  expect(gate.revision).toBe(5)
})

test('reports the revision of the cache to a waiter that times out', async () => {
  const gate = createRevisionGate()
  gate.advance(5)
  const rejected = expect(gate.waitFor(9, 50, never)).rejects.toThrow(CacheBehindError)
  await vi.advanceTimersByTimeAsync(50)
  await rejected
  expect(vi.getTimerCount()).toBe(0)
})

test('requests progress once per interval for all waiters, until none is left', async () => {
  const gate = createRevisionGate()
  const nudge = vi.fn()
  const waiting = Array.from({ length: 100 }, () => gate.waitFor(1, 1_000, nudge))
  await vi.advanceTimersByTimeAsync(30)
  expect(nudge).toHaveBeenCalledTimes(3)
  gate.advance(1)
  await Promise.all(waiting)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(nudge).toHaveBeenCalledTimes(3)
})
