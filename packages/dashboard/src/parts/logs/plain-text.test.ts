import { expect, test } from 'vitest'
import { plainText } from './plain-text.ts'

test('control sequences are not shown', () => {
  expect(plainText('a\t[INFO] b')).toBe('a\t[INFO] b')
  expect(plainText('\u001b[31mred\u001b[0m\u001b]0;title\u0007 text\u0008\tend')).toBe('red text\tend')
})
