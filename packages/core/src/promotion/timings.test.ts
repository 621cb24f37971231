import { expect, test } from 'vitest'
import { PROMOTION_TIMINGS, promiseOutlivesLease } from './timings.ts'

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
