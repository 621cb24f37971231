import { reject } from '@holdfast/core'
import { expect, test } from 'vitest'
import { done, type Outcome, refused } from '../../operations/caller.ts'
import { createFailedAttempts, limitFailure } from './failed-attempts.ts'

const CREDENTIAL = { code: 'unauthenticated', field: 'ticket' }
const wrong: Outcome<string> = refused(reject('unauthenticated', 'ticket', undefined))

function world() {
  let now = 0
  const attempts = createFailedAttempts(5, { now: () => now })
  return {
    pass: (ms: number) => {
      now += ms
    },
    present(address: string, outcome: Outcome<string>): string {
      const judged = limitFailure(attempts, address, outcome, CREDENTIAL)
      return judged.ok ? judged.value : (judged.rejections[0]?.code ?? '')
    },
  }
}

test('an address that fails too often is limited, and recovers', () => {
  const { present, pass } = world()
  const codes = Array.from({ length: 7 }, () => present('a', wrong))
  expect(codes).toEqual([...Array(5).fill('unauthenticated'), 'rate_limited', 'rate_limited'])
  expect(present('b', wrong)).toBe('unauthenticated')
  pass(12_000)
  expect([present('a', wrong), present('a', wrong)]).toEqual(['unauthenticated', 'rate_limited'])
})

test('a valid credential is accepted from an address that failed any number of times', () => {
  const { present } = world()
  for (let failed = 0; failed < 1_000; failed += 1) present('proxy', wrong)
  expect(present('proxy', done('opened'))).toBe('opened')
})

test('other rejections neither count nor are limited', () => {
  const { present } = world()
  const malformed: Outcome<string> = refused(reject('body_malformed', 'body', undefined, { fault: 'x' }))
  for (let sent = 0; sent < 20; sent += 1) expect(present('a', malformed)).toBe('body_malformed')
  expect(present('a', wrong)).toBe('unauthenticated')
})
