import { expect, test, vi } from 'vitest'
import { afterFailure } from './use-act.ts'

test('a change without an answer is unknown and can be asked again', () => {
  const again = vi.fn()
  const state = afterFailure({ kind: 'unreachable', reason: 'no response within 30 s' }, again)
  if (state.kind === 'unknown') state.again()
  expect(again).toHaveBeenCalledOnce()
})

test('a rejected change is not asked again', () => {
  const why = 'No such revision is kept.'
  const rejections = [
    { code: 'archive_not_found', field: '', received: '7', expected: 'a kept revision', why, doc: '' },
  ] as const
  const state = afterFailure({ kind: 'rejected', status: 404, rejections }, () => {})
  expect(state).toEqual({ kind: 'failed', failure: { title: why, rejections } })
})
