import type { Result } from '@holdfast/client'
import { expect, test, vi } from 'vitest'
import { afterConflict, matching } from './matching.ts'

const rejected = (status: number): Result<never> => ({
  ok: false,
  failure: { kind: 'rejected', status, rejections: [] },
})

test('a change names the revision that is shown, and none where none is shown', () => {
  expect(matching(7)).toEqual({ ifMatch: '7' })
  expect(matching(undefined)).toEqual({})
})

test('the page is read again after a conflict, which is still reported, and after nothing else', () => {
  const readAgain = vi.fn()
  const check = afterConflict(readAgain)
  expect(check({ ok: true, value: 1 })).toEqual({ ok: true, value: 1 })
  check(rejected(404))
  check({ ok: false, failure: { kind: 'unreachable', reason: 'no response' } })
  expect(readAgain).not.toHaveBeenCalled()
  expect(check(rejected(412))).toEqual(rejected(412))
  expect(readAgain).toHaveBeenCalledOnce()
})
