import { expect, test } from 'vitest'
import { judgeTokenRoom } from './token-room.ts'

const NOW = Date.parse('2026-06-01T00:00:00.000Z')
const token = (id: string, hours: number) => ({
  id,
  expiresAt: new Date(NOW + hours * 3_600_000).toISOString(),
})

test('only tokens that have not expired use the quota', () => {
  expect(judgeTokenRoom([token('a', 1), token('b', 0), token('c', -1)], 5, NOW)).toEqual({
    used: 1,
    surplus: [],
  })
})

test('a new token displaces those that expired first, and none that is valid', () => {
  const tokens = [token('late', -1), token('valid', 1), token('early', -9)]
  expect(judgeTokenRoom(tokens, 3, NOW).surplus).toEqual(['early'])
  expect(judgeTokenRoom(tokens, 2, NOW).surplus).toEqual(['early', 'late'])
  expect(judgeTokenRoom(tokens, 0, NOW)).toEqual({ used: 1, surplus: ['early', 'late'] })
})

test('one issue deletes at most 50 expired tokens', () => {
  const many = Array.from({ length: 500 }, (_, index) => token(`t${index}`, -1))
  expect(judgeTokenRoom(many, 10, NOW).surplus).toHaveLength(50)
})
