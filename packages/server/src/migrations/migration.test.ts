// Tests which migrations a record passes, with a record type of the test.

import { integer, object, optional, string } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { tenantCollection, v } from '../store/records/collection.ts'
import { type Migration, migrateRecord, newestOf } from './migration.ts'
import { MIGRATIONS } from './migrations.ts'

const houses = tenantCollection(
  'house',
  object({ v, name: string(), floors: optional(integer()), rooms: optional(integer()) }),
  true,
)
const gardens = tenantCollection('garden', object({ v }), true)

const ADD_ROOMS: Migration<{ v: number; name: string; floors?: number; rooms?: number }> = {
  collection: houses,
  to: 5,
  migrate: (record) => ({ ...record, v: 5, rooms: 2 * (record.floors ?? 0) }),
}
const ADD_FLOORS: typeof ADD_ROOMS = {
  collection: houses,
  to: 2,
  migrate: (record) => ({ ...record, v: 2, floors: record.floors ?? 1 }),
}
/** In the wrong order, which must not matter. */
const ALL: readonly Migration[] = [ADD_ROOMS, ADD_FLOORS]
const HOUSE = { v: 1, name: 'a' }

test.each([
  ['no form is written yet', HOUSE, 1, undefined],
  ['one step', HOUSE, 2, { v: 2, name: 'a', floors: 1 }],
  ['the second form is not written yet', HOUSE, 4, { v: 2, name: 'a', floors: 1 }],
  ['two steps', HOUSE, 5, { v: 5, name: 'a', floors: 1, rooms: 2 }],
  [
    'a record of a form between two migrations',
    { ...HOUSE, v: 3, floors: 4 },
    5,
    { v: 5, name: 'a', floors: 4, rooms: 8 },
  ],
  ['a record of the newest form', { ...HOUSE, v: 5 }, 5, undefined],
])('a record passes its migrations: %s', (_, record, writes, expected) => {
  expect(migrateRecord(ALL, houses, { record, writes })).toEqual(expected)
})

test('records of other collections are left alone', () => {
  expect(migrateRecord(ALL, gardens, { record: { v: 1 }, writes: 5 })).toBeUndefined()
  expect([newestOf(ALL, houses), newestOf(ALL, gardens)]).toEqual([5, 1])
})

test('a migration that returns another form throws', () => {
  const wrong: Migration<unknown> = { collection: houses, to: 2, migrate: (record) => record }
  expect(() => migrateRecord([wrong], houses, { record: HOUSE, writes: 2 })).toThrow('returned form 1')
})

test('every migration is of a collection whose records are cached', () => {
  expect(MIGRATIONS.filter(({ collection }) => !collection.cached)).toEqual([])
})
