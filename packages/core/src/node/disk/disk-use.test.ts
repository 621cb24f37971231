import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDiskNews, isUnderPressure, usedPercent } from './disk-use.ts'

const disk = (used: number, usedInodes = 0) => ({
  totalBytes: 1000,
  freeBytes: 1000 - used,
  inodes: 1000,
  freeInodes: 1000 - usedInodes,
})

test.each([
  ['bytes', { totalBytes: 1000, freeBytes: 100, inodes: 100, freeInodes: 90 }, 90],
  ['inodes', { totalBytes: 1000, freeBytes: 900, inodes: 100, freeInodes: 5 }, 95],
  ['bytes where inodes have no limit', { totalBytes: 1000, freeBytes: 500, inodes: 0, freeInodes: 0 }, 50],
  ['nothing of an unknown size', { totalBytes: 0, freeBytes: 0, inodes: 0, freeInodes: 0 }, 0],
])('the used part is that of %s', (_, use, percent) => {
  expect(usedPercent(use)).toBe(percent)
})

test.each([
  [false, 84.9, false],
  [false, 85, true],
  [true, 84.9, true],
  [true, 80.1, true],
  [true, 80, false],
  [false, 80.1, false],
])('pressure that was %s is at %d %%: %s', (was, percent, is) => {
  expect(isUnderPressure(was, percent)).toBe(is)
})

test.each([
  ['the first report', undefined, { engine: disk(500) }, true],
  ['less than one percent', { engine: disk(500) }, { engine: disk(509) }, false],
  ['one percent of the bytes', { engine: disk(500) }, { engine: disk(510) }, true],
  ['one percent of the inodes', { engine: disk(500, 100) }, { engine: disk(500, 90) }, true],
  ['the begin of the pressure', { engine: disk(849) }, { engine: disk(850) }, true],
  ['its end', { engine: disk(801) }, { engine: disk(800) }, true],
  ['inodes at the begin of the pressure', { engine: disk(0, 849) }, { engine: disk(0, 850) }, true],
  ['a larger disk', { engine: disk(500) }, { engine: { ...disk(500), totalBytes: 1001 } }, true],
  ['a new pool', { engine: disk(500) }, { engine: disk(500), pool: disk(1) }, true],
  ['a change of the pool', { engine: disk(500), pool: disk(1) }, { engine: disk(500), pool: disk(20) }, true],
  ['the same', { engine: disk(500), pool: disk(1) }, { engine: disk(500), pool: disk(1) }, false],
])('is worth a report: %s', (_, reported, now, is) => {
  expect(isDiskNews(reported, now)).toBe(is)
})

test('a change of the pressure of a disk is always worth a report', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(1000), fc.boolean(), (before, after, was) => {
      const [then, now] = [disk(before), disk(after)]
      const wasUnderPressure = isUnderPressure(was, usedPercent(then))
      if (isUnderPressure(wasUnderPressure, usedPercent(now)) === wasUnderPressure) return
      expect(isDiskNews({ engine: then }, { engine: now })).toBe(true)
    }),
  )
})
