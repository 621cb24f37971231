import { describe, expect, test } from 'vitest'
import {
  leaseEndMs,
  mayStartWriters,
  onAck,
  onPrimaryConfigured,
  onStored,
  renewPromises,
  requiredNodes,
  startPrimary,
} from './primary.ts'
import { checkpoint, primary, record } from './promotion.fixture.ts'
import { PROMOTION_TIMINGS as TIMES } from './timings.ts'

const ack = (ms: number, boot = 1) =>
  ({ kind: 'ack', from: 'b', to: 'a', epoch: 1, sent: { boot, ms }, start: 4 }) as const
const ABDICATED = { to: 'b', cv: 2, abdicated: true }

describe('a lease', () => {
  test('counts from the stamp of the renewal', () => {
    expect(leaseEndMs(onAck(primary(), ack(5_000), 9_000).state, TIMES)).toBe(17_000)
  })

  test('never moves back', () => {
    const state = onAck(primary(), ack(5_000), 9_000).state
    expect(leaseEndMs(onAck(state, ack(3_000), 9_000).state, TIMES)).toBe(17_000)
  })

  test('needs every node, and none if no node is promotable', () => {
    expect(leaseEndMs(primary({ asked: ['c'] }), TIMES)).toBe(Number.NEGATIVE_INFINITY)
    expect(leaseEndMs(primary({ configured: [] }), TIMES)).toBe(Number.POSITIVE_INFINITY)
  })

  test.each([
    ['of another boot', primary(), ack(5_000, 2)],
    ['of another epoch', primary({ epoch: 2 }), ack(5_000)],
    ['after abdication', primary({ handover: ABDICATED }), ack(5_000)],
  ])('is not extended by an acknowledgment %s', (_, state, sent) =>
    expect(onAck(state, sent, 9_000).state).toBe(state),
  )

  test('lets writers start until the fencer begins', () => {
    expect(mayStartWriters(primary(), 9_999, TIMES)).toBe(true)
    expect(mayStartWriters(primary(), 10_000, TIMES)).toBe(false)
  })

  test('survives a restart of the agent but not of the machine', () => {
    const { node, copies, durable, lease } = primary()
    const file = { boot: 1, lease }
    expect(leaseEndMs(startPrimary({ node, copies, durable, boot: 1, file }), TIMES)).toBe(12_000)
    expect(leaseEndMs(startPrimary({ node, copies, durable, boot: 2, file }), TIMES)).toBe(
      Number.NEGATIVE_INFINITY,
    )
  })
})

describe('a configuration', () => {
  test('is used if it is newer', () => {
    const state = primary({ asked: ['c'] })
    expect(requiredNodes(onPrimaryConfigured(state, record({ cv: 2, promotable: [] })))).toEqual([])
  })

  test.each([
    ['an old version', record({ promotable: [] })],
    ['another epoch', record({ epoch: 2, cv: 2, promotable: [] })],
  ])('is ignored with %s', (_, read) => {
    const state = primary()
    expect(onPrimaryConfigured(state, read)).toBe(state)
  })

  test('with a newer version ends the abdication', () => {
    const state = primary({ cv: 2, handover: ABDICATED })
    expect(onPrimaryConfigured(state, record({ cv: 2 }))).toBe(state)
    expect(onPrimaryConfigured(state, record({ cv: 3 })).durable.handover).toBeUndefined()
  })
})

test('renewals carry version, stamp and the known start, and end with the abdication', () => {
  const { state } = onAck(primary(), ack(1_000), 1_000)
  expect(renewPromises(state, 2_000)).toEqual([
    { kind: 'renew', from: 'a', to: 'b', epoch: 1, cv: 1, sent: { boot: 1, ms: 2_000 }, start: 4 },
  ])
  expect(renewPromises(primary({ handover: ABDICATED }), 2_000)).toEqual([])
})

test('the newest acknowledged checkpoint of a copy is kept', () => {
  const stored = (number: number) =>
    ({ kind: 'stored', from: 'b', to: 'a', checkpoint: checkpoint(number) }) as const
  const { state } = onStored(primary(), stored(3))
  expect(state.stored.get('b')).toBe(3)
  expect(onStored(state, stored(2)).state).toBe(state)
})
