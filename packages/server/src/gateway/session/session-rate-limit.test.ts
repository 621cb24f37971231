import type { NodeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { createSessionRateLimit } from './session-rate-limit.ts'

const [ONE, TWO] = ['node_1' as NodeId, 'node_2' as NodeId]

test('allows one session per node and interval', () => {
  const limit = createSessionRateLimit(1_000)
  const acquired = [
    limit.tryAcquire(ONE, 0),
    limit.tryAcquire(ONE, 999),
    limit.tryAcquire(TWO, 999),
    limit.tryAcquire(ONE, 1_000),
    limit.tryAcquire(TWO, 1_998),
    limit.tryAcquire(TWO, 1_999),
    limit.tryAcquire(ONE, 1_999),
  ]
  expect(acquired).toEqual([true, false, true, true, false, true, false])
})
