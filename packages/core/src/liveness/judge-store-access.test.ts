// Tests when a gateway without a fresh view of the store ends its sessions, with the shipped times.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgeStoreAccess } from './judge-store-access.ts'

const TIMES = { awayMs: 15_000, cutOffMs: 20_000 }
const judge = (withoutView: number, othersFresh: number | undefined) =>
  judgeStoreAccess(
    {
      withoutViewMs: withoutView * 1_000,
      othersFreshMs: othersFresh === undefined ? undefined : othersFresh * 1_000,
    },
    TIMES,
  )

test.each([
  ['a fresh view', 0, undefined, 'reached'],
  ['a short gap, whatever the others report', 14.999, 60, 'reached'],
  ['a longer gap, before the others were asked', 15, undefined, 'waiting'],
  ['a longer gap, while the others have a fresh view', 19.999, 4.999, 'waiting'],
  ['a cut, in time', 20, 5, 'cut_off'],
  ['a cut of many minutes', 1_200, 1_185, 'cut_off'],
  ['a store that no replica reaches', 20, undefined, 'alone'],
  ['a store that no replica has reached for many minutes', 1_200, undefined, 'alone'],
  ['a store that has just returned to another replica', 1_200, 0, 'waiting'],
  ['a store that has long returned to another replica', 1_205, 5, 'cut_off'],
])('%s: %d s without a view, others fresh for %d s', (_what, withoutView, othersFresh, expected) => {
  expect(judge(withoutView, othersFresh)).toBe(expected)
})

test('no session ends without another replica that has had a fresh view for long enough', () => {
  const seconds = fc.double({ min: 0, max: 3_600, noNaN: true })
  fc.assert(
    fc.property(seconds, fc.option(seconds, { nil: undefined }), (withoutView, othersFresh) => {
      const isProven = withoutView >= 20 && (othersFresh ?? 0) >= 5
      expect(judge(withoutView, othersFresh) === 'cut_off').toBe(isProven)
    }),
  )
})
