import { expect, test } from 'vitest'
import { fillIn, placeholdersOf } from './fill-in.ts'

test('fillIn replaces each placeholder once and keeps the braces of templates and parameters', () => {
  expect(fillIn('from {min} to {max}, {max}', { min: 0, max: 100 })).toBe('from 0 to 100, 100')
  expect(fillIn('{{secret.<resource>.<key>}}')).toBe('{{secret.<resource>.<key>}}')
  expect(fillIn('{block}', { block: '{"a":"{max}"} $& $1' })).toBe('{"a":"{max}"} $& $1')
})

test('fillIn throws on a missing parameter, also if an object inherits its name', () => {
  expect(() => fillIn('at most {max}', { min: 1 })).toThrow('{max}')
  expect(() => fillIn('{constructor}')).toThrow('{constructor}')
})

test('placeholdersOf lists each placeholder once', () => {
  expect(placeholdersOf('{limit} {kind} {limit} {{secret.<resource>.<key>}}')).toEqual(['limit', 'kind'])
})
