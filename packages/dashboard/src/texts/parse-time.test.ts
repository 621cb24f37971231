import { expect, test } from 'vitest'
import { parseTime } from './parse-time.ts'

const NOW = new Date(2026, 10, 18, 14, 30, 0).getTime()
const local = (day: number, h: number, m: number, s = 0): string =>
  new Date(2026, 10, day, h, m, s).toISOString()

test.each([
  ['14:05', local(18, 14, 5)],
  ['14:05:30', local(18, 14, 5, 30)],
  ['23:00', local(17, 23, 0)],
  ['2h', local(18, 12, 30)],
  ['10 min', local(18, 14, 20)],
  ['90s', local(18, 14, 28, 30)],
  ['2026-11-18 14:05', local(18, 14, 5)],
  ['2026-11-01T12:00:00Z', '2026-11-01T12:00:00.000Z'],
])('%s is a time', (text, iso) => expect(parseTime(text, NOW)).toBe(iso))

test.each(['', 'soon', '25:00', '14:60', '2x', '2026-13-40 10:00', '2030-01-01T00:00:00Z'])(
  '%j is no time of the past',
  (text) => expect(parseTime(text, NOW)).toBeUndefined(),
)
