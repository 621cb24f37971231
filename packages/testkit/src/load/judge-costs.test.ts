// When does the benchmark of the hot paths call a change dearer than the base? bench/README.md#cost

import { expect, test } from 'vitest'
import { judgeCosts, type Pair } from './judge-costs.ts'

/** Slices in which the tree costs these multiples of the base. */
const slices = (...ratios: number[]): Pair[] =>
  ratios.map((ratio) => ({
    base: { micros: 200, emptyMicros: 50 },
    tree: { micros: 200 * ratio, emptyMicros: 50 },
  }))

test('a change that costs 10 % in every slice is dearer', () => {
  expect(judgeCosts(slices(1.1, 1.1, 1.1, 1.1, 1.1)).isDearer).toBe(true)
})

test('a median of exactly 1.05 is not dearer, and a higher one is', () => {
  expect(judgeCosts(slices(1.04, 1.05, 1.05, 1.05, 1.2)).isDearer).toBe(false)
  expect(judgeCosts(slices(1.04, 1.04, 1.06, 1.06, 1.2)).isDearer).toBe(true)
})

test('a high median with a lower quartile of at most 1.02 is noise', () => {
  expect(judgeCosts(slices(0.9, 1.02, 1.3, 1.3, 1.3)).isDearer).toBe(false)
  expect(judgeCosts(slices(0.9, 1.03, 1.3, 1.3, 1.3)).isDearer).toBe(true)
})

test('costs are given in CPU microseconds and in empty requests', () => {
  const { micros, units, ratio } = judgeCosts(slices(1.5, 1.5, 1.5))
  expect(micros).toEqual({ base: 200, tree: 300 })
  expect(units).toEqual({ base: 4, tree: 6 })
  expect(ratio).toEqual({ lower: 1.5, median: 1.5, upper: 1.5 })
})

test('slices that measured nothing are an error, not a verdict', () => {
  expect(() => judgeCosts([])).toThrow('nothing was measured')
  expect(() => judgeCosts([...slices(1, 1), ...slices(0)])).toThrow('nothing was measured')
})
