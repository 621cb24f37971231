import { utf8Length } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitRevisions, splitText } from './backup-parts.ts'

test.each([
  { about: 'all of them', sizes: [3, 3, 3], max: 9, fits: 3 },
  { about: 'the newest ones', sizes: [3, 3, 3], max: 8, fits: 2 },
  { about: 'none if the newest is too large', sizes: [1, 9], max: 8, fits: 0 },
  { about: 'only up to the first that does not fit', sizes: [1, 9, 1], max: 8, fits: 1 },
  { about: 'none of none', sizes: [], max: 8, fits: 0 },
])('a backup contains $about', ({ sizes, max, fits }) => expect(fitRevisions(sizes, max)).toBe(fits))

describe('splitText', () => {
  test('cuts at the exact size and one byte above it', () => {
    expect(splitText('abcd', 4)).toEqual(['abcd'])
    expect(splitText('abcde', 4)).toEqual(['abcd', 'e'])
    expect(splitText('', 4)).toEqual([])
  })

  test('cuts between characters', () => {
    expect(splitText('abc€d', 4)).toEqual(['abc', '€d'])
    expect(splitText('a😀b', 4)).toEqual(['a', '😀', 'b'])
    expect(() => splitText('😀', 3)).toThrow(RangeError)
  })

  test('returns parts within the size that join to the text', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 200 })
    fc.assert(
      fc.property(texts, fc.integer({ min: 4, max: 64 }), (text, max) => {
        const parts = splitText(text, max)
        expect(parts.join('')).toBe(text)
        expect(parts.every((part) => utf8Length(part) <= max)).toBe(true)
      }),
    )
  })
})
