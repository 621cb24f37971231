import { expect, test, vi } from 'vitest'
import { afterFailure } from './use-act.ts'

test('a change without an answer is unknown and can be asked again', () => {
  const again = vi.fn()
  const state = afterFailure({ kind: 'unreachable', reason: 'no response within 30 s' }, again)
  if (state.kind === 'unknown') state.again()
  expect(again).toHaveBeenCalledOnce()
})

test('a change of a record that another one has changed says what to do', () => {
  const why = 'The record has changed since it was read, and this write would overwrite that change.'
  const rejections = [
    { code: 'revision_conflict', field: 'If-Match', received: '"7"', expected: '"8"', why, doc: '' },
  ] as const
  const state = afterFailure({ kind: 'rejected', status: 412, rejections }, () => {})
  const next = 'The page shows it as it is now. Check it, then try again.'
  expect(state).toEqual({ kind: 'failed', failure: { title: why, next, rejections } })
})

test('a rejected change is not asked again', () => {
  const why = 'No such revision is kept.'
  const rejections = [
    { code: 'archive_not_found', field: '', received: '7', expected: 'a kept revision', why, doc: '' },
  ] as const
  const state = afterFailure({ kind: 'rejected', status: 404, rejections }, () => {})
  expect(state).toEqual({ kind: 'failed', failure: { title: why, rejections } })
})
