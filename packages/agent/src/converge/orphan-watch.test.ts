// When is no container treated as an orphan, and when are orphans left and reported? Covers a store that was restored from
// a backup. See docs/design/agent.md#orphans

import { aContainer } from '@holdfast/core/node/node-items.fixture'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createOrphanWatch } from './orphan-watch.ts'

const MINUTE = 60_000
const own = [aContainer('A')]

/** `revisions` of the sets, a minute apart, none of which names the container; `noted`: of what was seen before them. */
function watch(noted: number, revisions: readonly number[]) {
  const told: string[] = []
  const orphans = createOrphanWatch(pino({}, { write: (line: string) => told.push(line) }), () => {})
  orphans.noteRevision(noted)
  for (const [index, revision] of revisions.entries())
    orphans.addComplete(revision, { assignments: new Set(), receivedMs: index * MINUTE })
  return { found: orphans.find(own, new Set()).map(({ id }) => id), told }
}

test('what two sets do not name is an orphan while revisions go forward', () => {
  expect(watch(0, [100, 101])).toEqual({ found: ['c-A'], told: [] })
  expect(watch(100, [100, 100])).toEqual({ found: ['c-A'], told: [] })
})

test.each([
  ['a set older than one before', 0, [100, 101, 99]],
  ['a set older than the kept one', 200, [100, 101]],
  ['revisions that have caught up since', 200, [100, 201, 202, 203]],
])('nothing is, after %s, and it is told once', (_, noted, revisions) => {
  const { found, told } = watch(noted, revisions)
  expect(found).toEqual([])
  expect(told).toEqual([expect.stringContaining('store revision went back')])
})

test('too many at once are left, and told whenever they are others than before', () => {
  const told: string[][] = []
  const log = pino({ enabled: false })
  const orphans = createOrphanWatch(log, (names) => told.push([...names]))
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
  // Three may go without a word.
  expect(minute(6, more.slice(0, 3))).toBe(3)
  expect(told).toEqual([['n-A', 'n-B', 'n-C', 'n-D'], ['n-A', 'n-B', 'n-C', 'n-D', 'n-E'], []])
})
