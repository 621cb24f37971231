// SAFETY 2 row 33: every character of an alphabet is as likely as any other, at every place.

import { randomBytes } from 'node:crypto'
import { SECRET_CHARSETS, SECRET_ENCODINGS } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../limits.ts'
import { ALPHABETS, byteRange, encodedLength, shortestLength } from './alphabets.ts'
import { generateValues } from './generate.ts'
import { generatedLength } from './generate-plan.ts'

/**
 * The value of chi-square that a fair source exceeds once in a million runs, by the approximation of Wilson and Hilferty;
 * a remainder of a byte would be hundreds above it.
 */
function critical(freedom: number): number {
  const part = 2 / (9 * freedom)
  return freedom * (1 - part + 4.7534 * Math.sqrt(part)) ** 3
}

function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

function countOf(texts: Iterable<string>, alphabet: string): number[] {
  const counts = new Map(Array.from(alphabet, (character) => [character, 0]))
  for (const text of texts)
    for (const character of text) counts.set(character, (counts.get(character) ?? Number.NaN) + 1)
  return [...counts.values()]
}

const keys = Array.from({ length: 100 }, (_, n) => `k${n}`)

describe('an alphabet', () => {
  test.each([
    ['alphanumeric', 62],
    ['urlsafe', 66],
    ['ascii', 94],
  ] as const)('%s has %i characters, each once, none of them a blank', (charset, size) => {
    expect(new Set(ALPHABETS[charset]).size).toBe(size)
    expect(ALPHABETS[charset]).toMatch(/^[!-~]+$/)
  })

  test.each(SECRET_CHARSETS)('%s: all its characters, equally often', (charset) => {
    const values = generateValues({ keys, length: 4096, charset }, randomBytes)
    const counts = countOf(values.values(), ALPHABETS[charset])
    const found = chiSquare(counts)
    console.log(
      `${charset}: chi-square ${found.toFixed(1)}, critical ${critical(counts.length - 1).toFixed(1)}`,
    )
    expect(found).toBeLessThan(critical(counts.length - 1))
  })

  test.each(SECRET_CHARSETS)('%s: at the first place as well', (charset) => {
    const first = Array.from({ length: 20_000 }, () =>
      [...generateValues({ keys: ['a'], length: 1, charset }, randomBytes).values()].join(''),
    )
    const counts = countOf(first, ALPHABETS[charset])
    expect(chiSquare(counts)).toBeLessThan(critical(counts.length - 1))
  })

  test('the judge sees the remainder of a byte', () => {
    const alphabet = ALPHABETS.alphanumeric
    const biased = Array.from(randomBytes(400_000), (byte) => alphabet.charAt(byte % alphabet.length))
    expect(chiSquare(countOf(biased, alphabet))).toBeGreaterThan(critical(alphabet.length - 1))
  })

  test('a byte past the last whole round is thrown away', () => {
    const bytes = [248, 255, 61, 62, 247]
    const source = (count: number) => Uint8Array.from(bytes.splice(0, count))
    expect(generateValues({ keys: ['a'], length: 3, charset: 'alphanumeric' }, source).get('a')).toBe('9A9')
  })
})

describe('bytes', () => {
  test.each(SECRET_ENCODINGS)('%s is what everybody else writes', (encoding) => {
    for (let count = 0; count < 70; count++) {
      const bytes = randomBytes(count)
      const value = generateValues({ keys: ['a'], bytes: count, encoding }, () => bytes).get('a')
      expect(value).toBe(bytes.toString(encoding))
      expect(value).toHaveLength(encodedLength(encoding, count))
    }
  })

  test('each is as likely as any other', () => {
    const values = generateValues({ keys, bytes: 2048, encoding: 'hex' }, randomBytes)
    expect(chiSquare(countOf(values.values(), '0123456789abcdef'))).toBeLessThan(critical(15))
  })

  test.each([
    ['hex', 2048],
    ['base64', 3072],
    ['base64url', 3072],
  ] as const)('%s: 16 to %i, and one more would not fit', (encoding, max) => {
    expect(byteRange(encoding, DEFAULT_LIMITS)).toEqual({ min: 16, max })
    expect(encodedLength(encoding, max)).toBeLessThanOrEqual(4096)
    expect(encodedLength(encoding, max + 1)).toBeGreaterThan(4096)
  })
})

test('keys have values of their own, in their order, as long as planned', () => {
  const plan = { keys: ['b', 'a', 'c'], bytes: 32, encoding: 'base64url' } as const
  const values = generateValues(plan, randomBytes)
  expect([...values.keys()]).toEqual(['b', 'a', 'c'])
  expect(new Set(values.values()).size).toBe(3)
  for (const value of values.values()) expect(value).toHaveLength(generatedLength(plan))
})

test.each([
  ['alphanumeric', 22, 43],
  ['urlsafe', 22, 43],
  ['ascii', 20, 40],
] as const)('%s: the floor of 128 bits is %i characters, of 256 it is %i', (charset, at128, at256) => {
  expect(shortestLength(charset, DEFAULT_LIMITS)).toBe(at128)
  expect(shortestLength(charset, { ...DEFAULT_LIMITS, generateEntropyBits: 256 })).toBe(at256)
})
