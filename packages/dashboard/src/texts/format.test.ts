import { expect, test } from 'vitest'
import {
  formatAge,
  formatBytes,
  formatCount,
  formatCpu,
  formatDuration,
  formatNumber,
  formatTime,
  formatUtc,
} from './format.ts'

test.each([
  [0, '0 s'],
  [72_000, '72 s'],
  [119_999, '119 s'],
  [120_000, '2 min'],
  [7_199_000, '119 min'],
  [7_200_000, '2 h'],
  [172_800_000, '2 d'],
  [-5_000, '0 s'],
])('%i ms are %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

test('an age is counted from the given time', () =>
  expect(formatAge('2026-11-18T14:00:00Z', Date.parse('2026-11-18T14:01:12Z'))).toBe('72 s'))

test('counts agree with their noun', () => {
  expect(formatCount(1, 'node')).toBe('1 node')
  expect(formatCount(0, 'node')).toBe('0 nodes')
  expect(formatCount(10_000, 'reply', 'replies')).toBe('10,000 replies')
})

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [-1_234_567, '-1,234,567'],
  [1_234.56, '1,234.6'],
  [0.04, '0'],
])('%d is written as %s', (value, text) => expect(formatNumber(value)).toBe(text))

test('amounts have their unit', () => {
  expect(formatBytes(0)).toBe('0 B')
  expect(formatBytes(1024 ** 3 * 17.4)).toBe('17.4 GiB')
  expect(formatBytes(1024 ** 5)).toBe('1,024 TiB')
  expect(formatCpu(1_250)).toBe('1.3 CPU')
})

test('today has a clock time, another day its date', () => {
  const now = Date.parse('2026-11-18T14:00:00Z')
  expect(formatTime('2026-11-18T13:59:08Z', now)).toMatch(/^\d\d:\d\d:08$/)
  expect(formatTime('2026-11-02T12:00:00Z', now)).toMatch(/^2 Nov, \d\d:00$/)
})

test('a time that cannot be read is shown as sent', () => {
  expect(formatTime('soon', 0)).toBe('soon')
  expect(formatUtc('soon')).toBe('soon')
  expect(formatUtc('2026-11-18T13:59:08.123Z')).toBe('2026-11-18 13:59:08 UTC')
})
