import type { AuditEntry } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { authorOf, factsOf, isRead, verbOf } from './describe-act.ts'

const actor = (token: string, name?: string): AuditEntry['actor'] => ({
  token: token as AuditEntry['actor']['token'],
  role: 'developer',
  ...(name === undefined ? {} : { name }),
})

test('an author is shown as a token with its name or id, or as a joining machine', () => {
  expect(authorOf(actor('tok_1', 'ci-main'))).toBe('token ci-main')
  expect(authorOf(actor('join_1'))).toBe('A joining machine')
  expect(authorOf(actor('tok_1'))).toBe('token tok_1')
})

test('an action of a newer server is shown in its own words', () => {
  expect(verbOf('deployments:created')).toBe('created deployment')
  expect(verbOf('gadgets:spun_up')).toBe('gadgets spun up')
})

test('reading a log is no change, a terminal is one', () => {
  expect(
    ['deployments:logs', 'sign-ins:open', 'deployments:exec'].map((action) => isRead({ action })),
  ).toEqual([true, true, false])
})

test('facts are shown with their names', () => {
  expect(factsOf({ detail: { program: 'sh', replica: '2' } })).toEqual(['program sh', 'replica 2'])
  expect(factsOf({})).toEqual([])
})
