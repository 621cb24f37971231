// A sorted collection that is split into runs behaves like one sorted array, with thousands of entries.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSortedKeys, type Ordered } from './sorted-keys.ts'

const name = (index: number): string => `/${String(index).padStart(4, '0')}/`
const index = fc.nat({ max: 1_500 })
const range = fc.record({ from: index.map(name), to: fc.option(index.map(name), { nil: undefined }) })

/** Inserts each entry that is absent and removes each entry that exists. */
function toggleAll(order: readonly number[]) {
  const sorted = createSortedKeys<Ordered>()
  const present = new Map<string, Ordered>()
  for (const one of order) {
    const entry = present.get(name(one)) ?? { order: name(one) }
    if (present.delete(entry.order)) sorted.remove(entry)
    else {
      present.set(entry.order, entry)
      sorted.insert(entry)
    }
  }
  return {
    sorted,
    expected: [...present.values()].toSorted((left, right) => (left.order < right.order ? -1 : 1)),
  }
}

test('returns the ranges, limits and counts of a sorted array', () => {
  const toggles = fc.array(index, { minLength: 1_000, maxLength: 4_000, size: 'max' })
  fc.assert(
    fc.property(toggles, fc.array(range, { minLength: 20 }), fc.nat({ max: 600 }), (order, ranges, limit) => {
      const { sorted, expected } = toggleAll(order)
      for (const { from, to } of ranges) {
        const within = expected.filter((one) => one.order >= from && (to === undefined || one.order < to))
        expect(sorted.list({ from, to })).toEqual(within)
        expect(sorted.list({ from, to }, limit)).toEqual(within.slice(0, limit))
        expect(sorted.count({ from, to })).toBe(within.length)
      }
    }),
    { numRuns: 30 },
  )
})

test('finds entries across a gap as wide as several runs', () => {
  const entries = Array.from({ length: 2_000 }, (_, one) => ({ order: name(one) }))
  const [before, gap, after] = [entries.slice(0, 500), entries.slice(500, 1_500), entries.slice(1_500)]
  const sorted = createSortedKeys<Ordered>()
  for (const entry of entries) sorted.insert(entry)
  for (const entry of gap) sorted.remove(entry)
  for (const start of [0, 499, 500, 900, 1_499, 1_500, 1_999]) {
    const expected = [...before, ...after].filter((one) => one.order >= name(start))
    expect(sorted.list({ from: name(start), to: undefined })).toEqual(expected)
  }
})

test('can be filled again after it was emptied, and ignores the removal of an absent entry', () => {
  const sorted = createSortedKeys<Ordered>()
  const entries = Array.from({ length: 1_000 }, (_, one) => ({ order: name(one) }))
  const everything = { from: '', to: undefined }
  sorted.remove({ order: name(1) })
  for (const entry of entries) sorted.insert(entry)
  sorted.remove({ order: name(1) })
  expect(sorted.count(everything)).toBe(1_000)
  for (const entry of entries) sorted.remove(entry)
  expect([sorted.count(everything), sorted.list(everything)]).toEqual([0, []])
  for (const entry of entries.toReversed()) sorted.insert(entry)
  expect(sorted.list(everything)).toEqual(entries)
})
