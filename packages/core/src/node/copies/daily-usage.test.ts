import { expect, test } from 'vitest'
import { addMeasurement, type DailyMaxima, highestUse } from './daily-usage.ts'
import { hasRoom } from './pool-room.ts'

test('keeps the highest usage of each of the last 8 days', () => {
  let maxima: DailyMaxima = {}
  for (const day of [10, 11, 12, 13, 14, 15, 16, 17, 18])
    for (const [hour, used] of [5, 9, 7].entries())
      maxima = addMeasurement(maxima, `2026-11-${day}T0${hour}:00:00.000Z`, used * day)
  expect(Object.keys(maxima)).toHaveLength(8)
  expect(maxima).toMatchObject({ '2026-11-11': 99, '2026-11-18': 162 })
  expect(addMeasurement(maxima, '2026-11-18T09:00:00.000Z', 1)).toBe(maxima)
})

test.each([
  [949, true],
  [950, false],
  [1000, false],
])('a pool with %i of 1000 bytes in use has room: %s', (usedBytes, expected) => {
  expect(hasRoom({ poolBytes: 1000, usedBytes })).toBe(expected)
})

test('the highest use is that of all days, since the first of them', () => {
  expect(highestUse({ '2026-11-12': 5, '2026-11-10': 2, '2026-11-11': 9 })).toEqual({
    bytes: 9,
    since: '2026-11-10',
  })
  expect(highestUse({})).toBeUndefined()
})
