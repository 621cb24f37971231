import { ROTATIONS } from '@holdfast/testkit/rotation'
import { describe, expect, test } from 'vitest'
import { chooseSeeds } from './seeds-in-turn.fixture.ts'

const SLICES = ROTATIONS['simulation-seeds']
const sliceNumbers = Array.from({ length: SLICES }, (_, slice) => slice)
const inSlice = (slice: number) => (item: number) => item % SLICES === slice
const range = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at)

describe('seeds of a simulation', () => {
  test.each([700, 120, 40])('the slices of CI together run each of %i seeds once', (count) => {
    const seeds = sliceNumbers.flatMap((slice) => {
      const chosen = chooseSeeds(false, true, inSlice(slice))
      return [...chosen.from(1, chosen.share(count))]
    })
    expect(seeds.toSorted((a, b) => a - b)).toEqual(range(1, count))
  })

  test('without a slice every seed runs', () => {
    const all = chooseSeeds(false, false, () => true)
    expect([...all.from(7, all.share(50))]).toEqual(range(7, 50))
  })

  test.each([4, 5, 8, 9, 12])('every slice has scripts of which there is one in %i', (every) => {
    const counts = sliceNumbers.map((slice) => {
      const chosen = chooseSeeds(false, true, inSlice(slice))
      return [...chosen.from(0, chosen.share(900))].filter((seed) => seed % every === 0).length
    })
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
  })

  test('a suite whose code ran green in every slice runs a few seeds of the slice', () => {
    const whole = chooseSeeds(false, true, inSlice(3))
    const few = chooseSeeds(true, true, inSlice(3))
    expect([few.share(700), few.share(40)]).toEqual([7, 5])
    expect([...few.from(1, 7)]).toEqual([...whole.from(1, 7)])
  })
})
