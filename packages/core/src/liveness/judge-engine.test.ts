// Tests when an engine is silent, has failed and answers again, with the shipped times.

import { expect, test } from 'vitest'
import { type EngineState, judgeEngine } from './judge-engine.ts'

const TIMES = { engineSilentMs: 30_000, failedMs: 120_000 }

test.each<[string, EngineState, number, number, EngineState]>([
  ['an engine that answers', 'answering', 0, 3_600, 'answering'],
  ['a short gap', 'answering', 29.999, 0, 'answering'],
  ['30 s without an answer', 'answering', 30, 0, 'silent'],
  ['a longer silence', 'silent', 119.999, 0, 'silent'],
  ['120 s without an answer', 'silent', 120, 0, 'failed'],
  ['120 s, first reported in a new session', 'answering', 120, 0, 'failed'],
  ['an agent that restarted during the silence', 'failed', 3, 0, 'failed'],
  ['the same a little later', 'failed', 40, 0, 'failed'],
  ['the first answers', 'silent', 1, 29.999, 'silent'],
  ['answers for 30 s', 'silent', 1, 30, 'answering'],
  ['answers for 30 s after a failure', 'failed', 1, 30, 'answering'],
])(
  '%s: an engine that was %s, silent for %d s, steady for %d s',
  (_what, known, silent, steady, expected) => {
    const report = { silentMs: silent * 1_000, steadyMs: steady * 1_000 }
    expect(judgeEngine(known, report, TIMES)).toBe(expected)
  },
)

test('an engine that flaps every ten seconds changes its state once', () => {
  let state: EngineState = 'answering'
  const states: EngineState[] = []
  for (let second = 0; second < 600; second += 10) {
    const isUp = second > 40 && (second / 10) % 2 === 0
    const report = isUp
      ? { silentMs: 1_000, steadyMs: 9_000 }
      : { silentMs: second > 40 ? 10_000 : second * 1_000, steadyMs: 0 }
    const next = judgeEngine(state, report, TIMES)
    if (next !== state) states.push(next)
    state = next
  }
  expect(states).toEqual(['silent'])
})

test('an engine does not fail before its node is degraded, however short the failure time is', () => {
  expect(judgeEngine('answering', { silentMs: 12_000, steadyMs: 0 }, { ...TIMES, failedMs: 12_000 })).toBe(
    'answering',
  )
})
