// Absence is weak evidence: who goes, who stays, and when nobody is touched. SAFETY 4e.

import { expect, test } from 'vitest'
import { aContainer, assignmentOf } from './node-items.fixture.ts'
import { judgeOrphans, type MissingMarks, markMissing } from './orphans.ts'
import type { OwnContainer } from './plan-node.ts'

const NONE: MissingMarks = new Map()
const set = (receivedMs: number, ids: readonly string[] = []) => ({
  receivedMs,
  assignments: new Set(ids.map(assignmentOf)),
})
const removed = (marks: MissingMarks, containers: readonly OwnContainer[], desired: readonly string[] = []) =>
  judgeOrphans(marks, containers, new Set(desired.map(assignmentOf))).remove.map(({ id }) => id)

const [a, b] = [aContainer('A'), aContainer('B')]

test('goes after two complete sets a minute apart without it', () => {
  const once = markMissing(NONE, set(0, ['B']), [a, b])
  expect(removed(once, [a, b], ['B'])).toEqual([])
  expect(removed(markMissing(once, set(59_999, ['B']), [a, b]), [a, b], ['B'])).toEqual([])
  expect(removed(markMissing(once, set(60_000, ['B']), [a, b]), [a, b], ['B'])).toEqual(['c-A'])
})

test('stays when it came back in between, or is wished now', () => {
  const once = markMissing(NONE, set(0), [a])
  const back = markMissing(once, set(30_000, ['A']), [a])
  expect(removed(markMissing(back, set(60_000), [a]), [a])).toEqual([])
  expect(removed(markMissing(once, set(60_000), [a]), [a], ['A'])).toEqual([])
})

test.each([
  [3, 3, 3],
  [4, 4, 0],
  [4, 8, 4],
  [5, 8, 0],
])('%d orphans of %d containers: %d go', (orphans, all, gone) => {
  const containers = Array.from({ length: all }, (_, index) => aContainer(`R${index}`))
  const wished = containers.slice(orphans).map(({ assignmentId }) => assignmentId.slice(4))
  const twice = markMissing(markMissing(NONE, set(0, wished), containers), set(60_000, wished), containers)
  const verdict = judgeOrphans(twice, containers, new Set(wished.map(assignmentOf)))
  expect([verdict.remove.length, verdict.leave.length]).toEqual([gone, gone === 0 ? orphans : 0])
})
