import { expect, test } from 'vitest'
import { sparklinePath, summarize, tableRows } from './chart-data.ts'

test('a sparkline starts at zero and a missing sample interrupts it', () => {
  expect(sparklinePath([0, 5, null, 10, 10], 40, 10)).toBe('M0 10L10 5M30 0L40 0')
  expect(sparklinePath([null, null], 40, 10)).toBe('')
  expect(sparklinePath([0, 0], 10, 10)).toBe('M0 10L10 10')
})

test('a limit above all values lowers the line', () => {
  expect(sparklinePath([5, 5], 10, 10, 10)).toBe('M0 5L10 5')
})

test('the table has the mean of five minutes, the newest first, and no number without a sample', () => {
  const series = [{ label: 'used', values: [1, 3, null, null, 5] }]
  expect(tableRows({ fromMs: 0, stepMs: 150_000 }, series)).toEqual([
    { atMs: 600_000, values: [5] },
    { atMs: 300_000, values: [null] },
    { atMs: 0, values: [2] },
  ])
})

test('the summary ignores gaps', () => {
  expect(summarize([1, 4, null])).toEqual({ last: 4, highest: 4 })
  expect(summarize([null])).toEqual({ last: null, highest: null })
})
