import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const many = (count: number, key = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${key}${index}`, 'v']))

const ROWS: Row[] = [
  ['constants', { environment: { LOG_LEVEL: 'debug', _x1: '' } }],
  ['a hyphen in a key', { environment: { 'A-B': 'x' } }, 'environment_key_invalid environment["A-B"]'],
  ['a digit first', { environment: { '1A': 'x' } }, 'environment_key_invalid environment["1A"]'],
  ['an empty key', { environment: { '': 'x' } }, 'environment_key_invalid environment[""]'],
  ['a number as value', { environment: { A: 1 } }, 'field_type_invalid environment.A'],
  ['null as value', { environment: { A: null } }, 'field_type_invalid environment.A'],
  ['NUL in a value', { environment: { A: 'a\0' } }, 'field_type_invalid environment.A'],
  [
    'a password',
    { environment: { DB_PASSWORD: 'hunter22' } },
    'plaintext_credential_in_environment environment.DB_PASSWORD',
  ],
  ['a list', { environment: [] }, 'field_type_invalid environment'],
  ['256 KiB', { environment: { A: 'x'.repeat(256 * 1024 - 1) } }],
  ['one byte more', { environment: { A: 'x'.repeat(256 * 1024) } }, 'environment_too_large environment'],
  [
    'one byte more in UTF-8',
    { environment: { A: 'é'.repeat(128 * 1024) } },
    'environment_too_large environment',
  ],
  ['1024 variables', { environment: many(1024) }],
  ['1025 variables', { environment: many(1025) }, 'list_too_long environment'],
]

test.each(ROWS)('rules of environment: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})
