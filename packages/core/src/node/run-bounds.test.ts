// The time that separates the log lines of two runs of a container.

import { expect, test } from 'vitest'
import { afterRun, betweenRuns } from './run-bounds.ts'

const END = '2026-01-01T00:00:10.000000000Z'
test.each([
  ['a next run begins after the restart delay', '2026-01-01T00:00:10.100000000Z', '2026-01-01T00:00:10.050Z'],
  ['a next run begins later', '2026-01-01T00:00:14.000000000Z', '2026-01-01T00:00:12.000Z'],
  ['the run started before its end', '2026-01-01T00:00:09.000000000Z', undefined],
  ['the engine recorded the start of the run after its end', '2026-01-01T00:00:10.040000000Z', undefined],
  ['no start is known', null, undefined],
])('separates two runs: %s', (_, startedAt, expected) => {
  expect(betweenRuns(END, startedAt)).toBe(expected)
})

test('a run whose start is unknown begins after the restart delay', () => {
  expect(afterRun(END)).toBe('2026-01-01T00:00:10.050Z')
})
