// When does the convergence loop run a pass, and over which assignments?

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLoop, type Scope } from './loop.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A loop whose passes end when the test ends them; the first `fails` passes fail. */
function aLoop(fails = 0) {
  const passes: string[] = []
  const waiting: (() => void)[] = []
  const failures: unknown[] = []
  const pass = async (scope: Scope<string>): Promise<void> => {
    passes.push(scope === 'all' ? scope : [...scope].join(' '))
    await new Promise<void>((resolve) => waiting.push(resolve))
    if (passes.length <= fails) throw new Error('no answer')
  }
  const loop = createLoop<string>(
    pass,
    () => 0,
    (error) => failures.push(error),
  )
  const endPass = async (): Promise<void> => {
    waiting.shift()?.()
    await vi.advanceTimersByTimeAsync(1)
  }
  return { loop, passes, failures, endPass }
}

test('assignments nudged during a pass are in the next pass, once', async () => {
  const { loop, passes, endPass } = aLoop()
  loop.nudgeFor(['a'])
  loop.nudgeFor(['b', 'c'])
  loop.nudgeFor(['b'])
  await endPass()
  await endPass()
  await endPass()
  expect(passes).toEqual(['a', 'b c'])
})

test('a nudge for all, or for many assignments, causes one full pass', async () => {
  const { loop, passes, endPass } = aLoop()
  loop.nudgeFor(['a'])
  loop.nudgeFor(['b'])
  loop.nudge()
  loop.nudgeFor(['c'])
  await endPass()
  await endPass()
  loop.nudgeFor(Array.from({ length: 9 }, (_, index) => `r${index}`))
  await endPass()
  expect(passes).toEqual(['a', 'all', 'all'])
})

test('a nudge for no assignment causes no pass', () => {
  const { loop, passes } = aLoop()
  loop.nudgeFor([])
  expect(passes).toEqual([])
})

test('partial passes do not delay the periodic full pass', async () => {
  const { loop, passes, endPass } = aLoop()
  loop.nudge()
  await endPass()
  for (let second = 0; second < 31; second += 1) {
    loop.nudgeFor(['a'])
    await endPass()
    await vi.advanceTimersByTimeAsync(999)
  }
  expect(passes.filter((scope) => scope === 'all')).toHaveLength(2)
})

test('a failed partial pass is followed soon by a full pass', async () => {
  const { loop, passes, failures, endPass } = aLoop(1)
  loop.nudgeFor(['a'])
  await endPass()
  expect([passes, failures.length]).toEqual([['a'], 1])
  await vi.advanceTimersByTimeAsync(500)
  await endPass()
  expect(passes).toEqual(['a', 'all'])
  loop.stop()
  loop.nudge()
  expect(passes).toEqual(['a', 'all'])
})
