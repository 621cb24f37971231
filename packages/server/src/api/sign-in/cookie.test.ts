import { expect, test } from 'vitest'
import { clearCookie, readCookie, setCookie } from './cookie.ts'

test.each([
  ['alone', '__Host-holdfast=abc', 'abc'],
  ['among others', 'a=1; __Host-holdfast=abc; b=__Host-holdfast', 'abc'],
  ['with a sign of equality', '__Host-holdfast=a=b', 'a=b'],
  ['sent twice', '__Host-holdfast=abc; __Host-holdfast=def', undefined],
  ['under another name', 'X__Host-holdfast=abc; __Host-holdfast2=abc', undefined],
  ['in another case', '__host-Holdfast=abc', undefined],
  ['missing', '', undefined],
])('reads a cookie that is %s', (_, header, value) => expect(readCookie(header)).toBe(value))

test('binds the cookie to this host, to HTTPS and to pages of the same site, and hides it from scripts', () => {
  for (const text of [setCookie('abc'), clearCookie()])
    for (const attribute of ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Strict'])
      expect(text.split('; ')).toContain(attribute)
  expect(setCookie('abc')).toContain('__Host-holdfast=abc;')
  expect(setCookie('abc')).toContain('Max-Age=43200')
  expect(clearCookie()).toContain('Max-Age=0')
  expect(`${setCookie('abc')}${clearCookie()}`).not.toContain('Domain')
})
