import { describe, expect, test } from 'vitest'
import { type DefragmentationFacts, planDefragmentation, type StoreMember } from './plan-defragmentation.ts'

const MIB = 1024 ** 2
const rules = { freeShare: 0.4, minimumBytes: 64 * MIB, intervalMs: 3_600_000 }

const member = (endpoint: string, changes: Partial<StoreMember> = {}): StoreMember => ({
  endpoint,
  fileBytes: 100 * MIB,
  inUseBytes: 50 * MIB,
  leader: endpoint === 'a',
  alarms: [],
  ...changes,
})

const facts = (
  members: readonly StoreMember[],
  changes: Partial<DefragmentationFacts> = {},
): DefragmentationFacts => ({
  members,
  configured: members.length,
  quotaBytes: 2048 * MIB,
  sinceMs: () => undefined,
  ...changes,
})

const endpointOf = (...of: Parameters<typeof facts>): string => {
  const plan = planDefragmentation(facts(...of), rules)
  return plan.kind === 'defragment' ? plan.member.endpoint : plan.kind === 'blocked' ? plan.why : plan.kind
}

const noSpace = { alarms: ['NOSPACE'] }

test.each([
  ['a file that is half free', {}, 'a'],
  ['a file that is 40 % free', { inUseBytes: 60 * MIB }, 'none'],
  ['a small file', { fileBytes: 60 * MIB, inUseBytes: 1 }, 'none'],
  ['an empty answer', { fileBytes: 0, inUseBytes: 0 }, 'none'],
])('%s', (_, changes, expected) => {
  expect(endpointOf([member('a', changes)])).toBe(expected)
})

test('a full store is defragmented for less, and a store under NOSPACE for any released page', () => {
  const tight = { quotaBytes: 100 * MIB }
  expect(endpointOf([member('a', { inUseBytes: 89 * MIB })], tight)).toBe('a')
  expect(endpointOf([member('a', { inUseBytes: 91 * MIB })], tight)).toBe('none')
  expect(endpointOf([member('a', { inUseBytes: 99 * MIB, ...noSpace })], tight)).toBe('a')
  expect(endpointOf([member('a', { inUseBytes: 100 * MIB, ...noSpace })], tight)).toBe('none')
})

test('no member is defragmented twice within an interval, which is shorter when the store fills up', () => {
  const since = (ms: number) => ({ sinceMs: () => ms })
  expect(endpointOf([member('a')], since(3_599_999))).toBe('none')
  expect(endpointOf([member('a')], since(3_600_000))).toBe('a')
  const tight = (ms: number) => ({ ...since(ms), quotaBytes: 100 * MIB })
  expect(endpointOf([member('a')], tight(59_999))).toBe('none')
  expect(endpointOf([member('a')], tight(60_000))).toBe('a')
  expect(endpointOf([member('a', noSpace)], tight(4_999))).toBe('none')
  expect(endpointOf([member('a', noSpace)], tight(5_000))).toBe('a')
})

test('the leader is last, and the others in the order of what they release', () => {
  const [a, b, c] = [
    member('a'),
    member('b', { inUseBytes: 40 * MIB }),
    member('c', { inUseBytes: 30 * MIB }),
  ]
  expect(endpointOf([a, b, c])).toBe('c')
  expect(endpointOf([a, b, member('c', { inUseBytes: 99 * MIB })])).toBe('b')
  expect(endpointOf([a, member('b', { inUseBytes: 99 * MIB })])).toBe('a')
})

describe('a due member waits', () => {
  test.each([
    ['while another member is silent', facts([member('a')], { configured: 3 }), 'member_silent'],
    ['while there is no leader', facts([member('b'), member('c')]), 'no_leader'],
    ['while a member is corrupt', facts([member('a'), member('b', { alarms: ['CORRUPT'] })]), 'alarm'],
  ])('%s', (_, given, why) => {
    expect(planDefragmentation(given, rules)).toEqual({ kind: 'blocked', why })
  })
})
