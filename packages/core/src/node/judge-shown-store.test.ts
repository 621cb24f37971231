import { expect, test } from 'vitest'
import { judgeShownStore, type SeenStore, type ShownStore } from './judge-shown-store.ts'

const seen: SeenStore = { epoch: 'e1', session: 7, revision: 100 }
const shown: ShownStore = { epoch: 'e1', session: 8, isNewSession: true, revision: 120 }

/** The memory of a node after several shows. */
const after = (before: SeenStore | undefined, ...shows: readonly Partial<ShownStore>[]) =>
  shows.reduce<SeenStore | undefined>((state, show) => judgeShownStore(state, { ...shown, ...show }), before)

test('a new node accepts any store', () => {
  expect(after(undefined, { isUnconfirmed: true })).toEqual({ epoch: 'e1', session: 8, revision: 120 })
})

test('a node follows the sessions and revisions of its store', () => {
  expect(after(seen, {}, { isNewSession: false, revision: 130 }, { session: 9, revision: 130 })).toEqual({
    epoch: 'e1',
    session: 9,
    revision: 130,
  })
})

test('a node without an epoch accepts the first one, and an older server changes nothing', () => {
  const before = { session: 7, revision: 100 }
  expect(after(before, { epoch: undefined }, { session: 9 })).toEqual({
    epoch: 'e1',
    session: 9,
    revision: 120,
  })
  expect(after(seen, { epoch: undefined })).toMatchObject({ epoch: 'e1', session: 8 })
})

test.each<[string, Partial<ShownStore>, string]>([
  ['another epoch', { epoch: 'e2', isUnconfirmed: true }, 'has epoch e2, and this node knew e1'],
  ['a lower session', { session: 6 }, 'number 6, and this node had 7 before'],
  ['the same session again', { session: 7 }, 'number 7, and this node had 7 before'],
  ['a lower revision', { revision: 99 }, 'from revision 100 to 99'],
])('a node that is shown %s holds, also after the numbers have passed the old ones', (_, show, why) => {
  const held = after(seen, show, { session: 50, revision: 5_000 })
  expect(held).toEqual({ epoch: 'e1', session: 50, revision: 5_000, held: expect.stringContaining(why) })
})

test('a hold ends with another epoch that an operator has confirmed, whatever its numbers are', () => {
  const held = after(seen, { session: 3, revision: 20 })
  const declared = after(held, { epoch: 'e2', isUnconfirmed: true, session: 4 })
  expect(declared?.held).toBe(held?.held)
  expect(after(declared, { epoch: 'e2', session: 5, revision: 30 })).toEqual({
    epoch: 'e2',
    session: 5,
    revision: 30,
  })
})

test('a node that was away during the whole restore accepts the confirmed store', () => {
  expect(after(seen, { epoch: 'e2', session: 2, revision: 30 })).toEqual({
    epoch: 'e2',
    session: 2,
    revision: 30,
  })
})

test('a node of an older version that knew no epoch holds on a store that is not confirmed', () => {
  const before = { session: 7, revision: 100 }
  const held = after(before, { isUnconfirmed: true })
  expect(held?.held).toContain('this node knew none')
  expect(after(held, { session: 9 })).toEqual({ epoch: 'e1', session: 9, revision: 120 })
})

test('a node whose session began before the backup cannot recognise a raised revision alone', () => {
  expect(after(seen, { session: 8, revision: 1_000_000_100 })?.held).toBeUndefined()
})
