// Tests that orphaned containers are removed only on repeated evidence, and never most of a node's containers at once.

import { asOwner } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aContainer, assignmentOf } from './node-items.fixture.ts'
import { classifyOrphans, type MissingMarks, markMissing } from './orphans.ts'
import type { OwnContainer } from './plan-node.ts'

const NONE: MissingMarks = new Map()
const set = (receivedMs: number, ids: readonly string[] = []) => ({
  receivedMs,
  assignments: new Set(ids.map(assignmentOf)),
})
const removed = (marks: MissingMarks, containers: readonly OwnContainer[], desired: readonly string[] = []) =>
  classifyOrphans(marks, containers, new Set(desired.map(assignmentOf))).remove.map(({ id }) => id)

const [a, b] = [aContainer('A'), aContainer('B')]

test('removes an orphan after two complete sets a minute apart without it', () => {
  const once = markMissing(NONE, set(0, ['B']), [a, b])
  expect(removed(once, [a, b], ['B'])).toEqual([])
  expect(removed(markMissing(once, set(59_999, ['B']), [a, b]), [a, b], ['B'])).toEqual([])
  expect(removed(markMissing(once, set(60_000, ['B']), [a, b]), [a, b], ['B'])).toEqual(['c-A'])
})

test('keeps a container that reappeared between two sets or is desired now', () => {
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
])('of %d orphans among %d containers, removes %d', (orphans, all, gone) => {
  const containers = Array.from({ length: all }, (_, index) => aContainer(`R${index}`))
  const desired = containers.slice(orphans).map(({ assignmentId }) => assignmentId.slice(4))
  const twice = markMissing(markMissing(NONE, set(0, desired), containers), set(60_000, desired), containers)
  const verdict = classifyOrphans(twice, containers, new Set(desired.map(assignmentOf)))
  expect([verdict.remove.length, verdict.leave.length]).toEqual([gone, gone === 0 ? orphans : 0])
})

const UNKNOWN = [
  ['of an unknown kind of owner', asOwner('cron/cron_1')],
  ['without an owner', undefined],
] as const

test.each(UNKNOWN)('never removes a container %s', (_which, owner) => {
  const other = aContainer('A', 'running', { owner })
  const twice = markMissing(markMissing(NONE, set(0), [other]), set(60_000), [other])
  expect(classifyOrphans(twice, [other], new Set())).toEqual({ remove: [], leave: [] })
})
