import { expect, test } from 'vitest'
import { createAttempts } from './attempts.ts'

test('an attempt can be claimed once, again after its release, and the oldest is forgotten', () => {
  const attempts = createAttempts(2)
  expect(attempts.claim('a', '1')).toBe(true)
  expect(attempts.claim('a', '1')).toBe(false)
  expect(attempts.claim('a', '2')).toBe(true)
  attempts.release('a', '2')
  expect(attempts.claim('a', '2')).toBe(true)
  expect(attempts.claim('b', '1')).toBe(true)
  expect(attempts.claim('a', '1')).toBe(true)
  expect(attempts.claim('b', '1')).toBe(false)
})
