import { expect, test } from 'vitest'
import { restartDelay } from './restart-delay.ts'

const START = '2026-11-17T09:00:00.000Z'
const run = (ranMs: number) => ({
  startedAt: START,
  finishedAt: new Date(Date.parse(START) + ranMs).toISOString(),
})

test.each([
  ['the first exit', undefined, 0, 100],
  ['a second exit', 100, 0, 200],
  ['an exit just before ten seconds', 400, 9_999, 800],
  ['an exit after ten seconds', 400, 10_000, 100],
  ['a long row of exits', 51_200, 0, 60_000],
  ['an exit after the longest delay', 60_000, 0, 60_000],
])('the delay after %s', (_, beforeMs, ranMs, expected) => {
  expect(restartDelay(beforeMs, run(ranMs))).toBe(expected)
})

test('a run whose start is unknown is a short one', () => {
  expect(restartDelay(100, { startedAt: null, finishedAt: START })).toBe(200)
})
