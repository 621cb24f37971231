// The order of events, and how the server detects that the event of a cursor was removed by retention.

import { expect, test } from 'vitest'
import { isAfter, placeEvents, readEventCursor, truncationAt } from './event-cursor.ts'

const key = (createRevision: number, name: string) => ({ id: name, key: `/${name}/`, createRevision })

test('orders the events of one revision by their keys', () => {
  const placed = placeEvents([key(7, 'b'), key(5, 'z'), key(7, 'a'), key(9, 'c')])
  expect(placed.map(({ key: each, cursor }) => `${cursor} ${each}`)).toEqual([
    '5-0 /z/',
    '7-0 /a/',
    '7-1 /b/',
    '9-0 /c/',
  ])
  const from = { revision: 7, ordinal: 0 }
  expect(placed.filter((each) => isAfter(each, from)).map(({ cursor }) => cursor)).toEqual(['7-1', '9-0'])
})

test.each(['', 'x', '1', '1-', '-1', '1-2-3', '1-1234567', '1234567890123456-0', '1 -2', '1-٣'])(
  'rejects %j as a cursor',
  (text) => expect(readEventCursor(text)).toBeUndefined(),
)

test.each([
  ['its event is kept', 8, 5, undefined],
  ['its event is the oldest', 5, 5, undefined],
  ['older ones are gone', 4, 5, { after: '4-0', oldest: '5-0' }],
  ['nothing is kept', 4, undefined, { after: '4-0', oldest: null }],
  ['it asks for all that is kept', 0, 5, undefined],
  ['it is of another store', 11, 5, { after: '11-0', oldest: '5-0' }],
])('reports truncation at a cursor where %s', (_, from, oldest, expected) => {
  const kept = oldest === undefined ? undefined : { revision: oldest, ordinal: 0 }
  expect(truncationAt({ revision: from, ordinal: 0 }, kept, 10)).toEqual(expected)
})
