import { expect, test } from 'vitest'
import { isRenewalDue, planPrevious } from './plan-renewal.ts'

const DAY_MS = 86_400_000

test('a secret id of 90 days is renewed after 45 days', () => {
  const lifetime = { createdAtMs: 5 * DAY_MS, expiresAtMs: 95 * DAY_MS }
  expect(isRenewalDue(lifetime, 50 * DAY_MS - 1)).toBe(false)
  expect(isRenewalDue(lifetime, 50 * DAY_MS)).toBe(true)
  expect(isRenewalDue(lifetime, 200 * DAY_MS)).toBe(true)
})

test('a secret id that never expires is not renewed', () => {
  expect(isRenewalDue({ createdAtMs: 0, expiresAtMs: undefined }, 1e15)).toBe(false)
})

test('only a previous secret id that belonged to this process alone is destroyed', () => {
  expect(planPrevious({ isInUse: false, found: { owner: 'process' } })).toBe('destroy')
  expect(planPrevious({ isInUse: false, found: { owner: 'operator' } })).toBe('forget')
  expect(planPrevious({ isInUse: false, found: 'absent' })).toBe('forget')
})

test('a secret id that is still in use is never destroyed', () => {
  expect(planPrevious({ isInUse: true, found: { owner: 'process' } })).toBe('forget')
})
