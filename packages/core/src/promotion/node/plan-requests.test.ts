import { asNodeId, asVolumeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { PrimaryDurable } from '../primary.ts'
import { primary } from '../promotion.fixture.ts'
import { PROMOTION_TIMINGS as TIMES } from '../timings.ts'
import type { PrimaryRole } from './follow-volume.ts'
import { planRequests } from './plan-requests.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const B = asNodeId('b')
const CURRENT = { number: 7, nodes: ['b'] }

const role = (durable: Partial<PrimaryDurable> = {}, changes: Partial<PrimaryRole> = {}): PrimaryRole => ({
  role: 'primary',
  primary: primary(durable),
  unsent: [],
  isConfirmed: true,
  isDeposed: false,
  sinceMs: 0,
  ...changes,
})
const plan = (
  one: PrimaryRole,
  nowMs: number,
  isWatched = true,
  current: typeof CURRENT | undefined = CURRENT,
) => planRequests(one, VOLUME, { nowMs, current, isWatched }, TIMES)

const SHRINK = { kind: 'shrink', volume: VOLUME, epoch: 1, nodeId: B }
const GROW = { kind: 'grow', volume: VOLUME, epoch: 1, cv: 1, nodeId: B }

describe('a promotable node', () => {
  test('is dropped after it has been silent for a quarter of the lease', () => {
    expect(plan(role(), 2_999).requests).toEqual([])
    expect(plan(role(), 3_000).requests).toEqual([SHRINK])
  })

  test('is not silent before the agent has asked for as long', () => {
    const restarted = role({}, { sinceMs: 50_000 })
    const unheard = { ...restarted, primary: { ...restarted.primary, lease: new Map() } }
    expect(plan(unheard, 52_999).requests).toEqual([])
    expect(plan(unheard, 53_000).requests).toEqual([SHRINK])
  })

  test('is not changed by a primary that was deposed', () => {
    expect(plan(role({}, { isDeposed: true }), 9_000).requests).toEqual([])
  })
})

describe('a current copy', () => {
  const solo = role({ configured: [] })
  const asked = plan(solo, 1_000).role

  test('is needed first, and requested only while a fencer watches', () => {
    expect(plan(solo, 1_000).requests).toEqual([])
    expect(asked.primary.durable.asked).toEqual(['b'])
    expect(asked.unsent).toEqual(['b'])
    expect(plan(asked, 1_000, false)).toEqual({ role: asked, requests: [] })
    const { role: sent, requests } = plan(asked, 1_000)
    expect(requests).toEqual([GROW])
    expect([sent.unsent, sent.primary.durable.asked]).toEqual([[], ['b']])
  })

  test.each([
    ['it lacks the newest checkpoint', { number: 7, nodes: [] }, 1_000],
    ['there is no checkpoint', undefined, 1_000],
    ['its promise is about to end', CURRENT, 10_000],
  ])('is not requested if %s', (_, current, nowMs) =>
    expect(planRequests(solo, VOLUME, { nowMs, current, isWatched: true }, TIMES)).toEqual({
      role: solo,
      requests: [],
    }),
  )

  test('that falls silent before the request has left is forgotten', () => {
    const { role: left, requests } = plan(asked, 3_000)
    expect([left.primary.durable.asked, left.unsent, requests]).toEqual([[], [], []])
  })

  test('that falls silent afterwards stays needed: it is requested until it is listed, and dropped then', () => {
    const sent = plan(asked, 1_000).role
    expect(plan(sent, 3_000)).toEqual({ role: sent, requests: [GROW] })
    expect(plan(role({ configured: ['b'] }), 3_000).requests).toEqual([SHRINK])
  })
})
