// The small languages inside a Compose file: variables, files of variables, command lines, durations and sizes.

import { describe, expect, test } from 'vitest'
import { parseEnvFile } from './env-file.ts'
import { interpolate } from './interpolate.ts'
import { bytesOf, durationOf, durationText, millisOf } from './scalars.ts'
import { splitWords } from './split-words.ts'

const SET: { readonly [name: string]: string } = { A: 'a', EMPTY: '', NESTED: 'n' }
const lookup = (name: string): string | undefined => SET[name]

describe('variables in a text', () => {
  test.each([
    ['plain', 'plain', []],
    [`$A-\${A}`, 'a-a', []],
    ['$$A', '$A', []],
    ['$$$A', '$a', []],
    [`\${MISSING}`, '', ['MISSING']],
    ['$MISSING/x', '/x', ['MISSING']],
    [`\${A:-b}\${EMPTY:-b}\${EMPTY-b}\${MISSING-b}`, 'abb', []],
    [`\${A:+b}\${EMPTY:+b}\${EMPTY+b}\${MISSING+b}`, 'bb', []],
    [`\${A:?needed}`, 'a', []],
    [`\${EMPTY:?needed}`, '', ['EMPTY']],
    [`\${MISSING?needed}`, '', ['MISSING']],
    [`\${MISSING:-\${NESTED}-\${OTHER:-c}}`, 'n-c', []],
    [`\${MISSING:-\${OTHER}}`, '', ['OTHER']],
    [`\${A/x/y} \${ $ $1`, `\${A/x/y} \${ $ $1`, []],
    [`\${A`, `\${A`, []],
  ])('%s', (text, expected, unset) => {
    expect(interpolate(text, lookup)).toMatchObject({ text: expected, unset })
  })

  test('deep nesting ends', () => {
    const text = `${`\${M:-`.repeat(5000)}x${'}'.repeat(5000)}`
    expect(interpolate(text, lookup).text.length).toBeGreaterThan(0)
  })
})

test('a file of variables has quotes, comments and variables', () => {
  const text = [
    '# comment',
    'PLAIN=a b # comment',
    'HASH=a#b',
    "SINGLE='$A # b'",
    'DOUBLE="$A\\t\\"x\\"" # comment',
    'export SPACED = c',
    `LATER=\${PLAIN}-$A`,
    'LINES="one',
    'two"',
    'EMPTY=',
    'UNSET',
    'no line at all',
    'CR=x\r',
  ].join('\n')
  expect(Object.fromEntries(parseEnvFile(text, { lookup }))).toEqual({
    ...{ PLAIN: 'a b', HASH: 'a#b', SINGLE: '$A # b', DOUBLE: 'a\t"x"', SPACED: 'c', LATER: 'a b-a' },
    ...{ LINES: 'one\ntwo', EMPTY: '', UNSET: undefined, no: undefined, CR: 'x' },
  })
  expect(parseEnvFile(`RAW="$A" # b`, { lookup, raw: true }).get('RAW')).toBe('"$A" # b')
})

test.each([
  ['a b  c', ['a', 'b', 'c']],
  [`a "b c" 'd "e' f\\ g`, ['a', 'b c', 'd "e', 'f g']],
  ['--x="1 2"', ['--x=1 2']],
  ['"a\\"b\\n"', ['a"b\\n']],
  ["''", ['']],
  ['', []],
  ['"open', undefined],
  ["'open", undefined],
  ['end\\', undefined],
])('the command line %s is split into words', (line, words) => expect(splitWords(line)).toEqual(words))

test.each([
  ['1m30s', 90_000, '90s'],
  ['2h', 7_200_000, '2h'],
  ['0.5s', 500, '500ms'],
  ['10us', 1, '1ms'],
  ['60s', 60_000, '1m'],
  ['0s', 0, '0s'],
  ['10', undefined, undefined],
  ['soon', undefined, undefined],
])('the duration %s', (text, ms, shown) => {
  expect(durationOf(text)).toBe(ms)
  if (ms !== undefined) expect(durationText(ms)).toBe(shown)
})

test.each([
  ['512m', 512 * 1024 ** 2],
  ['1.5gb', 1.5 * 1024 ** 3],
  ['100', 100],
  ['10 kb', 10_240],
  ['1x', undefined],
])('the size %s', (text, bytes) => expect(bytesOf(text)).toBe(bytes))

test.each([
  ['0.5', 500],
  ['2', 2000],
  ['.25', 250],
  ['0.0005', 1],
  ['1.1', 1100],
  ['x', undefined],
  ['.', undefined],
])('%s cores', (text, millis) => expect(millisOf(text)).toBe(millis))
