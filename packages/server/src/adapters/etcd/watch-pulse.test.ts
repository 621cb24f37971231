// Tests when a watch stream without messages is probed and when it is abandoned.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startWatchPulse } from './watch-pulse.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function pulse() {
  const actions = { probe: vi.fn(), abandon: vi.fn() }
  return { ...actions, ...startWatchPulse({ quietMs: 5_000, answerMs: 5_000 }, actions) }
}

test('does not probe a stream that delivers messages', () => {
  const { probe, abandon, received, stop } = pulse()
  for (let second = 0; second < 20; second += 1) {
    vi.advanceTimersByTime(1_000)
    received()
  }
  stop()
  expect([probe, abandon].map((one) => one.mock.calls.length)).toEqual([0, 0])
})

test('probes a quiet stream and accepts its answer', () => {
  const { probe, abandon, received, stop } = pulse()
  vi.advanceTimersByTime(7_000)
  expect(probe).toHaveBeenCalled()
  received()
  vi.advanceTimersByTime(4_000)
  stop()
  expect(abandon).not.toHaveBeenCalled()
})

test('abandons a stream only after a probe without answer', () => {
  const { abandon, stop } = pulse()
  vi.advanceTimersByTime(9_900)
  expect(abandon).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1_100)
  stop()
  expect(abandon).toHaveBeenCalled()
})

test('does not mistake a pause of this process for silence of the peer', () => {
  const { abandon, stop } = pulse()
  vi.setSystemTime(Date.now())
  const now = vi.spyOn(performance, 'now')
  const before = performance.now()
  now.mockReturnValue(before + 60_000)
  vi.advanceTimersByTime(1_000)
  expect(abandon).not.toHaveBeenCalled()
  stop()
  now.mockRestore()
})
