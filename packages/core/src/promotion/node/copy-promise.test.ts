import { asNodeId, asVolumeId, type DesiredCopy } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { copy } from '../promotion.fixture.ts'
import { PROMOTION_TIMINGS as TIMES } from '../timings.ts'
import { acknowledge, mayStore, promiseState, voteFor } from './copy-promise.ts'

const [A, C] = [asNodeId('a'), asNodeId('c')]
const DESIRED: DesiredCopy = {
  volume: asVolumeId('vol_01JCPZ0000000000000000000A'),
  epoch: 1,
  role: 'replica',
  sizeBytes: 1,
  desired: 'present',
  mayCreate: true,
  peers: [A],
}
const RENEWAL = { from: A, epoch: 1, cv: 1, sent: { boot: 1, ms: 5_000 }, start: 1 }

test('a renewal of the primary is acknowledged and extends the promise', () => {
  expect(acknowledge(copy(), DESIRED, RENEWAL, 7_000, TIMES)?.promisedUntilMs).toBe(25_000)
})

test.each([
  ['a node that is not the primary', { ...RENEWAL, from: C }, DESIRED],
  ['an earlier epoch', { ...RENEWAL, epoch: 0 }, DESIRED],
  ['an epoch that this node does not know', { ...RENEWAL, epoch: 2 }, DESIRED],
  ['a volume of which this node has no copy', RENEWAL, undefined],
  ['a volume of which this node is the primary', RENEWAL, { ...DESIRED, role: 'primary' as const }],
  ['a copy that is being removed', RENEWAL, { ...DESIRED, desired: 'removed' as const }],
])('a renewal for %s is not acknowledged', (_, renewal, desired) => {
  expect(acknowledge(copy(), desired, renewal, 7_000, TIMES)).toBeUndefined()
})

test('a copy votes after its promise has expired, and acknowledges no renewal of that version afterwards', () => {
  expect(promiseState(copy(), 17_999)).toBe('promised')
  expect(voteFor(copy(), { epoch: 1, cv: 1 }, 17_999, TIMES)).toBeUndefined()
  expect(promiseState(copy(), 18_000)).toBe('expired')
  const voted = voteFor(copy(), { epoch: 1, cv: 1 }, 18_000, TIMES)
  if (voted === undefined) throw new Error('no vote')
  expect(promiseState(voted, 18_000)).toBe('voted')
  expect(acknowledge(voted, DESIRED, RENEWAL, 18_000, TIMES)).toBeUndefined()
  expect(acknowledge(voted, DESIRED, { ...RENEWAL, cv: 2 }, 18_000, TIMES)?.durable.prepared).toBe(false)
})

test('a copy that has voted stores no checkpoint of that epoch', () => {
  expect(mayStore(copy(), { epoch: 1, number: 9 }, TIMES)).toBe(true)
  expect(mayStore(copy({ prepared: true }), { epoch: 1, number: 9 }, TIMES)).toBe(false)
  expect(mayStore(copy({ prepared: true }), { epoch: 2, number: 1 }, TIMES)).toBe(true)
})
