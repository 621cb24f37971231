// When is no container treated as an orphan, and when are orphans left and reported? Covers a store that was restored
// from a backup. See docs/design/agent.md#orphans

import { aContainer } from '@holdfast/core/node/node-items.fixture'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createOrphanWatch } from './orphan-watch.ts'

const MINUTE = 60_000
const own = [aContainer('A')]

/**
 * Searches for orphans after complete desired sets with these revisions, a minute apart, that do not list the container.
 * `noted`: the store revision that was recorded before the first desired set.
 */
function watch(noted: number, revisions: readonly number[]) {
  const logged: string[] = []
  const orphans = createOrphanWatch(pino({}, { write: (line: string) => logged.push(line) }), () => {})
  orphans.noteRevision(noted)
  for (const [index, revision] of revisions.entries())
    orphans.addComplete(revision, { assignments: new Set(), receivedMs: index * MINUTE })
  return { found: orphans.find(own, new Set()).map(({ id }) => id), logged }
}

test('a container that two complete sets omit is an orphan while revisions increase', () => {
  expect(watch(0, [100, 101])).toEqual({ found: ['c-A'], logged: [] })
  expect(watch(100, [100, 100])).toEqual({ found: ['c-A'], logged: [] })
})

test.each([
  ['a set older than an earlier one', 0, [100, 101, 99]],
  ['a set older than the saved one', 200, [100, 101]],
  ['revisions that went back and caught up', 200, [100, 201, 202, 203]],
])('no container is an orphan after %s, and it is logged once', (_, noted, revisions) => {
  const { found, logged } = watch(noted, revisions)
  expect(found).toEqual([])
  expect(logged).toEqual([expect.stringContaining('store revision went back')])
})

test('too many orphans at once are kept, and reported whenever they change', () => {
  const reported: string[][] = []
  const log = pino({ enabled: false })
  const orphans = createOrphanWatch(log, (names) => reported.push([...names]))
  const [a, b, c, d, e] = ['A', 'B', 'C', 'D', 'E'].map((id) =>
    aContainer(id, 'running', { name: `n-${id}` }),
  )
  const all = [a, b, c, d].filter((one) => one !== undefined)
  const minute = (at: number, own: typeof all): number => {
    orphans.addComplete(100 + at, { assignments: new Set(), receivedMs: at * MINUTE })
    return orphans.find(own, new Set()).length
  }
  expect([minute(0, all), minute(1, all), minute(2, all.toReversed())]).toEqual([0, 0, 0])
  const more = e === undefined ? all : [...all, e]
  expect([minute(3, more), minute(4, more), minute(5, more)]).toEqual([0, 0, 0])
  // Up to three orphans may be removed without a report.
  expect(minute(6, more.slice(0, 3))).toBe(3)
  expect(reported).toEqual([['n-A', 'n-B', 'n-C', 'n-D'], ['n-A', 'n-B', 'n-C', 'n-D', 'n-E'], []])
})
