import type { NodeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { createSessionRateLimit } from './session-rate-limit.ts'

const [ONE, TWO] = ['node_1' as NodeId, 'node_2' as NodeId]

test('allows one session per node and interval', () => {
  const limit = createSessionRateLimit(1_000)
  const taken = [
    limit.take(ONE, 0),
    limit.take(ONE, 999),
    limit.take(TWO, 999),
    limit.take(ONE, 1_000),
    limit.take(TWO, 1_998),
    limit.take(TWO, 1_999),
    limit.take(ONE, 1_999),
  ]
  expect(taken).toEqual([true, false, true, true, false, true, false])
})
