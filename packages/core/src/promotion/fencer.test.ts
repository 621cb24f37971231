import { expect, test } from 'vitest'
import { runFencer } from './fencer.ts'
import { PROMOTION_TIMINGS } from './timings.ts'

const run = (fenced: boolean, leaseEndMs: number, nowMs: number) =>
  runFencer({ fenced }, leaseEndMs, nowMs, PROMOTION_TIMINGS)

test('the fencer begins two seconds before the lease ends', () => {
  expect(run(false, 12_000, 9_999).kill).toBe(false)
  expect(run(false, 12_000, 10_000)).toEqual({ state: { fenced: true }, kill: true, announce: true })
})

test('a fence stays in force and is announced once', () => {
  expect(run(true, 12_000, 60_000)).toEqual({ state: { fenced: true }, kill: true, announce: false })
})

test('a newer end of the lease lifts the fence', () => {
  expect(run(true, 72_000, 60_000)).toEqual({ state: { fenced: false }, kill: false, announce: false })
})

test('a group that needs no promise is never fenced', () => {
  expect(run(false, Number.POSITIVE_INFINITY, 60_000).kill).toBe(false)
})
