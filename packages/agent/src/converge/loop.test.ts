// When are passes made, and over what? Over all from time to time whatever else comes, over a few in between.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLoop, type Scope } from './loop.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Each pass waits until it is let go; `fails` of them do not succeed. */
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
  const letGo = async (): Promise<void> => {
    waiting.shift()?.()
    await vi.advanceTimersByTimeAsync(1)
  }
  return { loop, passes, failures, letGo }
}

test('what is named while a pass is under way is in the next one, once', async () => {
  const { loop, passes, letGo } = aLoop()
  loop.nudgeFor(['a'])
  loop.nudgeFor(['b', 'c'])
  loop.nudgeFor(['b'])
  await letGo()
  await letGo()
  await letGo()
  expect(passes).toEqual(['a', 'b c'])
})

test('a nudge without a name, and many names, are a pass over all, and one is enough', async () => {
  const { loop, passes, letGo } = aLoop()
  loop.nudgeFor(['a'])
  loop.nudgeFor(['b'])
  loop.nudge()
  loop.nudgeFor(['c'])
  await letGo()
  await letGo()
  loop.nudgeFor(Array.from({ length: 9 }, (_, index) => `r${index}`))
  await letGo()
  expect(passes).toEqual(['a', 'all', 'all'])
})

test('nothing named is no pass', () => {
  const { loop, passes } = aLoop()
  loop.nudgeFor([])
  expect(passes).toEqual([])
})

test('passes over a few do not put off the one over all', async () => {
  const { loop, passes, letGo } = aLoop()
  loop.nudge()
  await letGo()
  for (let second = 0; second < 31; second += 1) {
    loop.nudgeFor(['a'])
    await letGo()
    await vi.advanceTimersByTimeAsync(999)
  }
  expect(passes.filter((scope) => scope === 'all')).toHaveLength(2)
})

test('one over a few that fails is followed soon by one over all', async () => {
  const { loop, passes, failures, letGo } = aLoop(1)
  loop.nudgeFor(['a'])
  await letGo()
  expect([passes, failures.length]).toEqual([['a'], 1])
  await vi.advanceTimersByTimeAsync(500)
  await letGo()
  expect(passes).toEqual(['a', 'all'])
  loop.stop()
  loop.nudge()
  expect(passes).toEqual(['a', 'all'])
})
