import { expect, test } from 'vitest'
import type { Load, LoadFailure, LoadResult } from '../load/http-load.ts'
import { createFailureSearch } from './failed-requests.ts'

const [FIRST, SECOND] = ['http://10.0.0.1:80', 'http://10.0.0.2:80'] as const
const at = (target: string): LoadFailure => ({
  number: 0,
  sentMs: 0,
  atMs: 1,
  target,
  kept: false,
  cause: 'ECONNRESET',
})

function aLoad(failures: readonly LoadFailure[], resent: readonly LoadFailure[]): Load {
  const result: LoadResult = {
    sent: 9,
    answered: 9,
    failures,
    reconnects: 0,
    resent,
    texts: new Map(),
    slowestMs: 1,
  }
  return { result: () => result, stop: async () => result }
}

test('a request may be sent twice to a reloaded router only', () => {
  const [expected, other] = [at(FIRST), at(SECOND)]
  expect(createFailureSearch()([aLoad([], [expected, other])], [FIRST])).toEqual([other])
})

test('a failed request is found even at a reloaded router', () => {
  const failed = at(FIRST)
  expect(createFailureSearch()([aLoad([failed], [])], [FIRST])).toEqual([failed])
})

test('a request is found once', () => {
  const [first, later] = [at(FIRST), at(SECOND)]
  const find = createFailureSearch()
  expect(find([aLoad([first], [])], [])).toEqual([first])
  expect(find([aLoad([first], [later])], [])).toEqual([later])
})
