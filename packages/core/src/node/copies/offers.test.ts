// Tests what a node offers of its pool, which decisions it carries out, and how long it keeps quarantined data.

import { asVolumeId, type DesiredCopy, type OfferDecision } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { applicableDecisions, expiredQuarantine, offerOf } from './offers.ts'
import type { FoundCopy } from './plan-copy.ts'

const VOLUME = asVolumeId('vol_1')
const LIVE = { limitBytes: 1, mountPoint: undefined }
const AT = { epoch: 2, number: 7 }
const made = (epoch: number) => ({ epoch, content: { epoch, isMade: true } })

test.each<readonly [string, Partial<FoundCopy>, string]>([
  ['nothing', {}, 'none'],
  ['only a note', { note: made(3) }, 'none'],
  ['complete live data', { live: LIVE, note: made(3) }, 'primary 3'],
  ['live data that later epochs left behind', { live: LIVE, note: { ...made(3), epoch: 5 } }, 'primary 3'],
  [
    'incomplete live data',
    { live: LIVE, note: { epoch: 3, content: { epoch: 3, isMade: false } } },
    'replica 3',
  ],
  ['live data without a note', { live: LIVE }, 'replica 0'],
  [
    'live data that was handed over',
    {
      live: LIVE,
      note: { ...made(3), released: { to: Object('node_2'), checkpoint: AT } },
      checkpoints: [AT],
    },
    'replica 3 2.7',
  ],
  ['a checkpoint', { checkpoints: [AT], note: { epoch: 2 } }, 'replica 2 2.7'],
])('offers %s', (_name, found, expected) => {
  const offer = offerOf(VOLUME, { live: undefined, checkpoints: [], note: undefined, ...found })
  const at = offer?.checkpoint && `${offer.checkpoint.epoch}.${offer.checkpoint.number}`
  expect(offer ? [offer.role, String(offer.epoch), at].filter(Boolean).join(' ') : 'none').toBe(expected)
})

test('carries out decisions only about undesired copies of the offered epoch', () => {
  const decision: OfferDecision = { volume: VOLUME, epoch: 2, action: 'delete' }
  const offer = { volume: VOLUME, epoch: 2, role: 'replica' as const }
  const none = new Map<typeof VOLUME, DesiredCopy>()
  expect(applicableDecisions([decision], [offer], none)).toEqual([decision])
  expect(applicableDecisions([decision], [{ ...offer, epoch: 3 }], none)).toEqual([])
  expect(applicableDecisions([decision], [], none)).toEqual([])
  const desired = new Map([[VOLUME, Object({ volume: VOLUME })]])
  expect(applicableDecisions([decision], [offer], desired)).toEqual([])
})

test('keeps the newest three quarantined copies of a volume, and every one for a week', () => {
  const now = Date.parse('2026-11-17T00:00:00.000Z')
  const daysAgo = (volume: string, ...days: number[]) =>
    days.map((day) => ({ volume, day, since: new Date(now - day * 86_400_000).toISOString() }))
  const expired = (...list: ReturnType<typeof daysAgo>) =>
    expiredQuarantine(list, now).map(({ volume, day }) => `${volume} ${day}`)
  expect(expired(...daysAgo('a', 30, 20, 10))).toEqual([])
  expect(expired(...daysAgo('a', 30, 40, 20, 10), ...daysAgo('b', 50))).toEqual(['a 40'])
  expect(expired(...daysAgo('a', 1, 2, 3, 4, 5))).toEqual([])
  expect(expired(...daysAgo('a', 1, 2, 3, 7))).toEqual(['a 7'])
})
