import { expect, test, vi } from 'vitest'
import { CallError } from './failure.ts'
import { afterFailure } from './use-act.ts'

test('a change without an answer is unknown and can be asked again', () => {
  const again = vi.fn()
  const state = afterFailure({ kind: 'unreachable', reason: 'no response within 30 s' }, again)
  if (state.kind === 'unknown') state.again()
  expect(again).toHaveBeenCalledOnce()
})

test('a rejected change is not asked again', () => {
  const failure = { kind: 'rejected', status: 403, rejections: [] } as const
  expect(afterFailure(failure, () => {})).toEqual({ kind: 'failed', error: new CallError(failure) })
})
