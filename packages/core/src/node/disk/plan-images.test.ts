import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isCleaning, nextImage, type PulledImage } from './plan-images.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = 1_000 * HOUR
const image = (reference: string, agoPulled: number, agoUsed = agoPulled): PulledImage => ({
  reference,
  pulledMs: NOW - agoPulled,
  usedMs: NOW - agoUsed,
})
const OLD = image('old', 100 * HOUR, 48 * HOUR)
const OLDER = image('older', 90 * HOUR, 72 * HOUR)
const RECENT = image('recent', 30 * HOUR, 2 * HOUR)
const FRESH = image('fresh', 9 * MINUTE)

describe('the next image', () => {
  test.each([
    ['none without a clean-up', 90, false, [OLD], [], undefined],
    ['the least recently used one', 76, true, [OLD, OLDER], [], 'older'],
    ['not one in use', 76, true, [OLD, OLDER], ['older'], 'old'],
    ['not one that was used within 24 hours', 85, true, [RECENT], [], undefined],
    ['one that was used within 24 hours, above 85 %', 85.1, true, [RECENT, FRESH], [], 'recent'],
    ['an older one first, above 85 %', 99, true, [RECENT, OLD], [], 'old'],
    ['not one that was pulled within ten minutes, also above 85 %', 99, true, [FRESH], [], undefined],
    ['not one in use, also on a full disk', 100, true, [OLD, RECENT], ['old', 'recent'], undefined],
    ['none of the future: the clock was set back', 99, true, [image('later', -HOUR)], [], undefined],
    [
      'one of two with the same age, by name',
      76,
      true,
      [image('b', 50 * HOUR), image('a', 50 * HOUR)],
      [],
      'a',
    ],
  ])('%s', (_, percent, cleaning, pulled, used, expected) => {
    const isUsed = (reference: string) => used.some((one) => one === reference)
    const next = nextImage({ nowMs: NOW, usedPercent: percent, isCleaning: cleaning, pulled, isUsed })
    expect(next?.reference).toBe(expected)
  })

  test.each([
    [false, 74.9, false],
    [false, 75, true],
    [true, 74.9, true],
    [true, 70.1, true],
    [true, 70, false],
  ])('a clean-up that was %s is at %d %%: %s', (was, percent, is) => {
    expect(isCleaning(was, percent)).toBe(is)
  })

  const images = fc.array(
    fc.record({
      reference: fc.string({ minLength: 1, maxLength: 3 }),
      pulledMs: fc.integer({ min: NOW - 100 * HOUR, max: NOW + HOUR }),
      usedMs: fc.integer({ min: NOW - 100 * HOUR, max: NOW + HOUR }),
    }),
    { maxLength: 20 },
  )
  const facts = fc.record({
    usedPercent: fc.double({ min: 0, max: 100, noNaN: true }),
    wasCleaning: fc.boolean(),
    pulled: images,
    used: fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 10 }),
  })

  test('is pulled by the agent, unused, not fresh, and old unless the disk is nearly full', () => {
    fc.assert(
      fc.property(facts, ({ pulled, used, wasCleaning, usedPercent: percent }) => {
        const isUsed = (reference: string) => used.includes(reference)
        const cleaning = isCleaning(wasCleaning, percent)
        const next = nextImage({ nowMs: NOW, usedPercent: percent, isCleaning: cleaning, pulled, isUsed })
        if (next === undefined) return
        expect(pulled).toContain(next)
        expect(isUsed(next.reference)).toBe(false)
        expect(percent).toBeGreaterThan(70)
        expect(NOW - next.pulledMs).toBeGreaterThanOrEqual(10 * MINUTE)
        if (percent <= 85) expect(NOW - next.usedMs).toBeGreaterThanOrEqual(24 * HOUR)
      }),
    )
  })

  test('does not depend on the order of the list, and removing one after the other ends', () => {
    fc.assert(
      fc.property(facts, ({ pulled, used, usedPercent: percent }) => {
        const known = new Map(pulled.map((one) => [one.reference, one]))
        const isUsed = (reference: string) => used.includes(reference)
        const next = (list: readonly PulledImage[]) =>
          nextImage({ nowMs: NOW, usedPercent: percent, isCleaning: true, pulled: list, isUsed })?.reference
        const left = [...known.values()]
        expect(next(left)).toBe(next(left.toReversed()))
        for (let at = next(left); at !== undefined; at = next(left))
          left.splice(
            left.findIndex(({ reference }) => reference === at),
            1,
          )
        expect(left.filter(({ reference }) => isUsed(reference))).toHaveLength(
          [...known.keys()].filter(isUsed).length,
        )
      }),
    )
  })
})
