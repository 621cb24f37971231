import { describe, expect, test } from 'vitest'
import { leaseEndMs } from './primary.ts'
import {
  abdicate,
  growBy,
  releaseSuccessor,
  requestCancel,
  shipCheckpoint,
  shrinkSilent,
} from './primary-requests.ts'
import { primary } from './promotion.fixture.ts'
import { PROMOTION_TIMINGS as TIMES } from './timings.ts'

const HANDOVER = { to: 'b', cv: 2, abdicated: false }

test('a silent node is dropped after three seconds, but not during a handover', () => {
  expect(shrinkSilent(primary(), 2_999, TIMES)).toEqual([])
  expect(shrinkSilent(primary(), 3_000, TIMES)).toEqual([{ kind: 'shrink', from: 'a', epoch: 1, node: 'b' }])
  expect(shrinkSilent(primary({ handover: HANDOVER }), 3_000, TIMES)).toEqual([])
})

describe('a grow', () => {
  const solo = primary({ configured: [] })

  test('needs the promise of the node from before the request', () => {
    const { state, send } = growBy(solo, 'b', 1_000, TIMES)
    expect(leaseEndMs(state, TIMES)).toBe(12_000)
    expect(send).toEqual([{ kind: 'grow', from: 'a', epoch: 1, cv: 1, node: 'b' }])
  })

  test.each([
    ['the copy is not current', { ...solo, stored: new Map([['b', 0]]) }, 1_000],
    ['its promise is about to end', solo, 10_000],
    ['a handover is under way', primary({ configured: [], handover: HANDOVER }), 1_000],
    ['the node is promotable', primary(), 1_000],
  ])('is not requested if %s', (_, state, nowMs) =>
    expect(growBy(state, 'b', nowMs, TIMES)).toEqual({ state, send: [] }),
  )
})

describe('a handover', () => {
  test('drops the lease, takes a final checkpoint, and releases the node that holds it', () => {
    const abdicated = abdicate(primary({ handover: HANDOVER }))
    expect(leaseEndMs(abdicated, TIMES)).toBe(Number.NEGATIVE_INFINITY)
    expect(releaseSuccessor(abdicated)).toEqual([])
    expect(releaseSuccessor({ ...abdicated, stored: new Map([['b', 2]]) })).toEqual([
      { kind: 'release', to: 'b', epoch: 1, cv: 2, final: 2 },
    ])
  })

  test('stays until the transaction that cancels it', () => {
    const state = abdicate(primary({ handover: HANDOVER }))
    expect(requestCancel(state)).toEqual({ state, send: [{ kind: 'cancel', from: 'a', epoch: 1, cv: 2 }] })
    expect(requestCancel(primary()).send).toEqual([])
  })
})

test('a checkpoint is shipped as one message for each volume', () => {
  const parts = shipCheckpoint(primary(), 'b', ['data', 'wal'], { boot: 1, ms: 7 })
  expect(parts.map((part) => 'volume' in part && part.volume)).toEqual(['data', 'wal'])
})
