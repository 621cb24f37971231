// When silence is broken, and when it is taken for death.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startWatchPulse } from './watch-pulse.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function pulse() {
  const actions = { probe: vi.fn(), giveUp: vi.fn() }
  return { ...actions, ...startWatchPulse({ quietMs: 5_000, patienceMs: 5_000 }, actions) }
}

test('a stream that speaks is left alone', () => {
  const { probe, giveUp, beat, stop } = pulse()
  for (let second = 0; second < 20; second += 1) {
    vi.advanceTimersByTime(1_000)
    beat()
  }
  stop()
  expect([probe, giveUp].map((one) => one.mock.calls.length)).toEqual([0, 0])
})

test('a quiet stream is probed; its answer ends the doubt', () => {
  const { probe, giveUp, beat, stop } = pulse()
  vi.advanceTimersByTime(7_000)
  expect(probe).toHaveBeenCalled()
  beat()
  vi.advanceTimersByTime(4_000)
  stop()
  expect(giveUp).not.toHaveBeenCalled()
})

test('a stream that does not answer is given up, and only then', () => {
  const { giveUp, stop } = pulse()
  vi.advanceTimersByTime(9_900)
  expect(giveUp).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1_100)
  stop()
  expect(giveUp).toHaveBeenCalled()
})

test('a pause of this process is not the silence of the peer', () => {
  const { giveUp, stop } = pulse()
  vi.setSystemTime(Date.now())
  const now = vi.spyOn(performance, 'now')
  const before = performance.now()
  now.mockReturnValue(before + 60_000)
  vi.advanceTimersByTime(1_000)
  expect(giveUp).not.toHaveBeenCalled()
  stop()
  now.mockRestore()
})
