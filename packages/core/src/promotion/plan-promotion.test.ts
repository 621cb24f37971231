import { expect, test } from 'vitest'
import { type Candidate, type PromotionFacts, planPromotion } from './plan-promotion.ts'
import { checkpoint, record } from './promotion.fixture.ts'
import { PROMOTION_TIMINGS } from './timings.ts'

const candidate = (node: string, number: number, changes: Partial<Candidate> = {}): Candidate => ({
  node,
  held: checkpoint(number),
  lagMs: 5_000,
  expired: true,
  accepted: true,
  ...changes,
})
const plan = (changes: Partial<PromotionFacts>) =>
  planPromotion(
    {
      record: record({ promotable: ['b', 'c'] }),
      silentSinceMs: 0,
      promotedAtMs: undefined,
      candidates: [candidate('b', 3), candidate('c', 4)],
      nowMs: 12_000,
      ...changes,
    },
    PROMOTION_TIMINGS,
  )

test('the copy with the newest checkpoint is prepared', () => {
  expect(plan({})).toEqual({ prepare: 'c' })
})

test.each([
  ['its promise has not expired', { expired: false }],
  ['a filter of the writer refuses its node', { accepted: false }],
  ['its node is not promotable', { node: 'd' }],
])('a copy is passed over if %s', (_, changes) => {
  expect(plan({ candidates: [candidate('b', 3), candidate('c', 4, changes)] })).toEqual({ prepare: 'b' })
})

test.each([
  ['primary_alive', { silentSinceMs: undefined }],
  ['primary_alive', { nowMs: 11_999 }],
  ['promoted_recently', { promotedAtMs: 0, nowMs: 59_999 }],
  ['no_candidate', { candidates: [] }],
  ['no_candidate', { candidates: [candidate('b', 1, { held: undefined })] }],
  ['lagging', { candidates: [candidate('b', 3, { lagMs: 60_001 })] }],
])('no copy is prepared: %s (%o)', (wait, changes) => expect(plan(changes)).toEqual({ wait }))
