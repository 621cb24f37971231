// Tests every decision about offered copies, and that no doubt deletes data.

import { asVolumeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import { decideOffers, judgeOffer, type OfferVerdict } from './judge-offers.ts'
import type { VolumeRecord } from './volume-record.ts'
import { aVolume, primaryOn, SINCE } from './volume-world.fixture.ts'

const VOLUME = asVolumeId('vol_01JD0000000000000000000000')
const HERE = nodeIdOf(9)
const at = (epoch: number) => ({ primary: { nodeId: nodeIdOf(1), epoch, since: SINCE } })
const offer = (epoch: number, role: 'primary' | 'replica' = 'primary') => ({ volume: VOLUME, epoch, role })

type Record = Partial<VolumeRecord> | 'unreadable' | undefined
const judge = (record: Record, offered = offer(2), isKnown = false): OfferVerdict =>
  judgeOffer(offered, {
    nodeId: HERE,
    volumeOf: () => (typeof record === 'object' ? aVolume({ ...at(2), ...record }) : record),
    wasKnown: () => isKnown,
  })

describe('a copy', () => {
  const here = { copies: [primaryOn(1), { ...primaryOn(9), role: 'replica' as const }] }
  const leaving = { leaving: [{ nodeId: HERE, since: SINCE }] }
  const lost = { phase: 'Lost' as const, copies: [] }
  const deleting = { phase: 'Deleting' as const, copies: [] }
  test.each<readonly [string, Record, ReturnType<typeof offer>, boolean, OfferVerdict]>([
    ['that the record has here', here, offer(2, 'replica'), false, 'keep'],
    ['of an older epoch that the record has here', here, offer(1), false, 'keep'],
    ['that must be deleted here', { ...deleting, ...leaving }, offer(2), false, 'keep'],
    ['of a live volume that has its copies elsewhere', {}, offer(2, 'replica'), false, 'quarantine'],
    ['of an older primary', {}, offer(1), false, 'quarantine'],
    ['of an older primary, known at a removal by force', {}, offer(1), true, 'quarantine'],
    ['of a later epoch than the record', {}, offer(3), false, 'unknown'],
    ['of a volume without a primary', { primary: null, copies: [] }, offer(1), false, 'unknown'],
    ['of a volume that is being deleted', deleting, offer(2), false, 'delete'],
    ['of a volume that was deleted', undefined, offer(2), true, 'delete'],
    ['of a volume that no record knows', undefined, offer(2), false, 'unknown'],
    ['of a volume whose record cannot be read', 'unreadable', offer(2), true, 'unknown'],
    ['of the last primary of a lost volume', lost, offer(2), false, 'adopt'],
    ['of an earlier primary of a lost volume', lost, offer(1), false, 'quarantine'],
    ['of a lost volume, incomplete', lost, offer(2, 'replica'), false, 'quarantine'],
  ])('%s', (_name, record, offered, isKnown, expected) => {
    expect(judge(record, offered, isKnown)).toBe(expected)
  })
})

test('only quarantine and deletion are sent, with the epoch of the offer', () => {
  const volumes = [
    'unreadable',
    undefined,
    aVolume(at(2)),
    aVolume({ ...at(2), phase: 'Deleting', copies: [] }),
  ] as const
  const offers = volumes.map((_, number) => ({ ...offer(2), volume: asVolumeId(`vol_${number}`) }))
  const decisions = decideOffers(offers, {
    nodeId: HERE,
    volumeOf: (id) => volumes[Number(id.slice(4))],
    wasKnown: () => false,
  })
  expect(decisions).toEqual([
    { volume: 'vol_2', epoch: 2, action: 'quarantine' },
    { volume: 'vol_3', epoch: 2, action: 'delete' },
  ])
})
