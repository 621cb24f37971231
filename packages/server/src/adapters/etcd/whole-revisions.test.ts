// Tests that each watch event is delivered once, in order and in complete revisions, for any split of the messages.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WatchEvent } from '../../ports/key-value.ts'
import { makeWholeRevisions, type RevisionBatch } from './whole-revisions.ts'

const eventAt = (modRevision: number, key = '/k/'): WatchEvent => ({
  kind: 'put',
  kv: { key, value: new Uint8Array(0), createRevision: 1, modRevision, version: 1 },
})
const revisionsIn = (batch: RevisionBatch | undefined) => batch?.events.map((event) => event.kv.modRevision)

test('releases all but the last revision of a fragment', () => {
  const revisions = makeWholeRevisions(0)
  expect(revisionsIn(revisions.accept([eventAt(1), eventAt(2), eventAt(3), eventAt(3)], true))).toEqual([
    1, 2,
  ])
  expect(revisions.delivered()).toBe(2)
  expect(revisionsIn(revisions.accept([eventAt(3)], true))).toBeUndefined()
  expect(revisionsIn(revisions.accept([eventAt(3), eventAt(4)], false))).toEqual([3, 3, 3, 3, 4])
})

test('drops an incomplete revision with its stream', () => {
  const revisions = makeWholeRevisions(0)
  revisions.accept([eventAt(1), eventAt(2)], true)
  revisions.dropPartial()
  expect(revisionsIn(revisions.accept([eventAt(2), eventAt(2)], false))).toEqual([2, 2])
})

test('does not deliver an event twice', () => {
  const revisions = makeWholeRevisions(5)
  expect(revisions.accept([eventAt(4), eventAt(5)], false)).toBeUndefined()
  expect(revisionsIn(revisions.accept([eventAt(5), eventAt(6)], false))).toEqual([6])
})

test('moves progress only forward and never past an incomplete revision', () => {
  const revisions = makeWholeRevisions(5)
  expect([revisions.advance(4), revisions.delivered()]).toEqual([false, 5])
  expect([revisions.advance(5), revisions.advance(9), revisions.delivered()]).toEqual([true, true, 9])
  revisions.accept([eventAt(10)], true)
  expect([revisions.advance(10), revisions.delivered()]).toEqual([false, 9])
})

/** A generated history: the number of events of each revision. */
const history = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 30 })
/** Generated parts of a message sequence: the length of each part, and whether the stream breaks after the part. */
const cuts = fc.array(fc.record({ length: fc.integer({ min: 1, max: 7 }), breaks: fc.boolean() }), {
  maxLength: 60,
})

test('delivers the whole history once for any cuts and breaks', () => {
  fc.assert(
    fc.property(history, cuts, (sizes, parts) => {
      const all = sizes.flatMap((size, index) =>
        Array.from({ length: size }, (_, nth) => eventAt(index + 1, `/${index}/${nth}/`)),
      )
      const batches = replay(all, parts)
      expect(batches.flatMap((batch) => batch.events)).toEqual(all)
      for (const { events, revision } of batches) {
        const complete = all.filter((event) => event.kv.modRevision === revision)
        expect(events.slice(-complete.length)).toEqual(complete)
      }
    }),
  )
})

/** Replays a history of watch events in parts; after a break the next stream starts at the last delivered revision. */
function replay(all: WatchEvent[], parts: { length: number; breaks: boolean }[]): RevisionBatch[] {
  const revisions = makeWholeRevisions(0)
  const batches: RevisionBatch[] = []
  let rest = all
  for (const { length, breaks } of parts) {
    const batch = revisions.accept(rest.slice(0, length), rest.length > length)
    if (batch) batches.push(batch)
    rest = rest.slice(length)
    if (!breaks) continue
    revisions.dropPartial()
    rest = all.filter((event) => event.kv.modRevision >= revisions.delivered())
  }
  const last = revisions.accept(rest, false)
  return last ? [...batches, last] : batches
}
