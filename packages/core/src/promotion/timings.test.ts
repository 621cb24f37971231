import { expect, test } from 'vitest'
import { MIN_LEASE_MS, PROMOTION_TIMINGS, promiseOutlivesLease, timingsFor } from './timings.ts'

test('a promise outlives the lease with the shipped times, also on drifting clocks', () => {
  expect(promiseOutlivesLease(PROMOTION_TIMINGS)).toBe(true)
})

test.each([
  ['a longer lease', { leaseMs: 16_000 }],
  ['a shorter promise', { promiseMs: 13_000 }],
  ['clocks that drift by 15 percent', { drift: 0.15 }],
])('a promise does not outlive the lease with %s', (_, changes) => {
  expect(promiseOutlivesLease({ ...PROMOTION_TIMINGS, ...changes })).toBe(false)
})

test('the shipped times are those for the shipped lease', () => {
  expect(timingsFor(PROMOTION_TIMINGS.leaseMs)).toEqual(PROMOTION_TIMINGS)
})

test.each([MIN_LEASE_MS, 1_500, 3_000, 60_000])('a promise outlives a lease of %i ms', (leaseMs) => {
  expect(promiseOutlivesLease(timingsFor(leaseMs))).toBe(true)
})
