// Known secret values never stay in reported text, however a program prints them.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { REDACTED, redact, secretValues } from './redact.ts'

const whole = (text: string) => ({ text, isCut: false })
const SECRET = 'p@ss "w\\rd"/ü-e81b'

test.each([
  ['as it is', SECRET],
  ['in JSON', JSON.stringify({ password: SECRET })],
  ['in JSON within JSON', JSON.stringify(JSON.stringify({ password: SECRET }))],
  ['in a URL', `db://u:${encodeURIComponent(SECRET)}@db`],
  ['in hex', Buffer.from(SECRET).toString('hex')],
  ...[0, 1, 2].map((offset): [string, string] => [
    `in base64 at offset ${offset}`,
    Buffer.from(`${'x'.repeat(offset)}${SECRET}:more`).toString('base64'),
  ]),
  ['in base64 for URLs', Buffer.from(`${SECRET}??>>`).toString('base64url')],
])('replaces a value printed %s', (_, text) => {
  const kept = redact(whole(`before ${text} after`), [SECRET])
  expect(kept).toContain(REDACTED)
  expect(kept).toMatch(/^before .* after$/)
  for (const part of [SECRET, encodeURIComponent(SECRET)]) expect(kept).not.toContain(part)
  expect(Buffer.from(kept.slice(7, -6).replaceAll(REDACTED, ''), 'base64').toString()).not.toContain('w\\rd')
})

test('replaces single lines of a value with several lines', () => {
  const key = '-----BEGIN KEY-----\nMIIBOgIBAAJBAKj3\nxyz\n-----END KEY-----\n'
  expect(redact(whole('line 2 is MIIBOgIBAAJBAKj3, line 3 is xyz'), [key])).toBe(
    `line 2 is ${REDACTED}, line 3 is xyz`,
  )
})

test('replaces short values only where they are whole words, and ignores empty ones', () => {
  expect(redact(whole('exit 7 of 17: a7'), ['7', ''])).toBe(`exit ${REDACTED} of 17: a7`)
})

test('a text that was cut within a value loses the beginning of the value', () => {
  const cut = (text: string, isCut: boolean) => redact({ text, isCut }, ['secret-value'])
  expect(cut('the password is secret-va', true)).toBe('the password is ')
  expect(cut('the password is secret-va', false)).toBe('the password is secret-va')
  expect(cut('nothing here', true)).toBe('nothing here')
})

test('no value of four or more characters survives, however values overlap', () => {
  const value = fc.string({ minLength: 4, maxLength: 12, unit: fc.constantFrom('a', 'b', '[', '"', 'ü') })
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(3)), (values, order) => {
      const text = order.map((index) => values[index % values.length]).join('-')
      const kept = redact(whole(text), values).replaceAll(REDACTED, '\0')
      expect(values.filter((each) => kept.includes(each))).toEqual([])
    }),
  )
})

test('values of secrets and of templates with secrets are secret, constants are not', () => {
  const template = {
    secrets: [{ name: 'DB', namespace: 'resources', label: 'db', version: 1 }],
    composedEnvironment: { URL: 'db://{{secret.db.key}}' },
  }
  const environment = ['MODE=fast', 'DB_key=a=b', 'DB_key_NEXT=c', 'URL=db://a=b', 'PATH=/bin', 'DBX=no']
  expect(secretValues(template, environment)).toEqual(['a=b', 'c', 'db://a=b'])
  expect(secretValues({}, environment)).toEqual([])
})
