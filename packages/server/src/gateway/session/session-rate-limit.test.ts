import type { NodeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { createSessionRateLimit } from './session-rate-limit.ts'

const [ONE, TWO] = ['node_1' as NodeId, 'node_2' as NodeId]

test('one turn in the time, for each node', () => {
  const pace = createSessionRateLimit(1_000)
  const taken = [
    pace.take(ONE, 0),
    pace.take(ONE, 999),
    pace.take(TWO, 999),
    pace.take(ONE, 1_000),
    pace.take(TWO, 1_998),
    pace.take(TWO, 1_999),
    pace.take(ONE, 1_999),
  ]
  expect(taken).toEqual([true, false, true, true, false, true, false])
})
