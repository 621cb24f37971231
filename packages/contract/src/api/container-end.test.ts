// A cause is one bounded line, whatever a check or an engine prints.

import { expect, test } from 'vitest'
import { utf8Length } from '../json/strict-json-utf8.ts'
import { cleanCause, isCause, MAX_CAUSE_BYTES } from './container-end.ts'

test.each([
  ['plain text stays', 'wget: not found', 'wget: not found'],
  ['line breaks and tabs become one space', '  a\r\n\tb\n', 'a b'],
  ['terminal control sequences lose their escape', 'a\u001b[31mb', 'a [31mb'],
  ['characters that reorder or hide text are dropped', 'a\u202eb\u200bc\ufeff', 'abc'],
  ['a lone surrogate is replaced', 'a\ud800b', 'a\ufffdb'],
  ['empty output stays empty', '\n \n', ''],
])('%s', (_, text, cause) => {
  expect(cleanCause(text)).toBe(cause)
  expect(isCause(cause)).toBe(true)
})

test.each([
  ['a', MAX_CAUSE_BYTES],
  ['ü', 1023],
  ['€', 1023],
  ['🙂', 1023],
])('a long text of %s is cut at a character boundary and ends with dots', (character, bytes) => {
  const cause = cleanCause(character.repeat(5000))
  expect(cause.endsWith(`${character}...`)).toBe(true)
  expect(utf8Length(cause)).toBe(bytes)
  expect(isCause(cause)).toBe(true)
})

test('a cause that is too long in bytes, has several lines or control characters is not accepted', () => {
  const wrong = ['a'.repeat(1025), 'ü'.repeat(513), 'a\nb', '\u001b[31m', 'a\u202eb', '\ud800']
  expect(wrong.filter(isCause)).toEqual([])
  expect(isCause('ü'.repeat(512))).toBe(true)
})
