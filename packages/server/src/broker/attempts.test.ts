import { expect, test } from 'vitest'
import { createAttempts } from './attempts.ts'

test('an attempt is taken once, released ones again, and the oldest is forgotten', () => {
  const attempts = createAttempts(2)
  expect(attempts.take('a', '1')).toBe(true)
  expect(attempts.take('a', '1')).toBe(false)
  expect(attempts.take('a', '2')).toBe(true)
  attempts.release('a', '2')
  expect(attempts.take('a', '2')).toBe(true)
  expect(attempts.take('b', '1')).toBe(true)
  expect(attempts.take('a', '1')).toBe(true)
  expect(attempts.take('b', '1')).toBe(false)
})
