import { expect, test } from 'vitest'
import { becomeCopy, takeOver } from './change-roles.ts'
import { heldCheckpoint } from './copy.ts'
import { checkpoint, copy, primary, record } from './promotion.fixture.ts'
import { PROMOTION_TIMINGS } from './timings.ts'

const PROMOTED = record({ epoch: 2, primary: 'b', promotable: [], cv: 2 })

test('a promoted copy starts every volume from the checkpoint that it holds for all of them', () => {
  const half = copy({ held: [checkpoint(3), checkpoint(2)] })
  const taken = takeOver(half, PROMOTED, { boot: 1, copies: ['a'] })
  expect(taken?.from).toEqual(checkpoint(2))
  expect(taken?.primary.durable).toMatchObject({ epoch: 2, cv: 2, configured: [], checkpoint: 2 })
})

test.each([
  ['names another node', { ...PROMOTED, primary: 'c' }],
  ['is of its own epoch', { ...PROMOTED, epoch: 1 }],
])('a copy does not become primary by a record that %s', (_, read) =>
  expect(takeOver(copy(), read, { boot: 1, copies: ['a'] })).toBeUndefined(),
)

test('a deposed primary holds no checkpoint until it is seeded again', () => {
  const next = becomeCopy(primary(), PROMOTED, { volumes: ['data'], start: 3 }, 0, PROMOTION_TIMINGS)
  expect(heldCheckpoint(next)).toBeUndefined()
  expect(next.durable).toMatchObject({ epoch: 2, cv: 2, prepared: false })
})
