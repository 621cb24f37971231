// When are orphans removed, and when are they left and reported? See docs/design/agent.md#orphans

import { aContainer } from '@holdfast/core/node/node-items.fixture'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createOrphanWatch } from './orphan-watch.ts'

const MINUTE = 60_000

test('a container that two complete sets omit is an orphan', () => {
  const orphans = createOrphanWatch(pino({ enabled: false }))
  for (const receivedMs of [0, MINUTE]) orphans.addComplete({ assignments: new Set(), receivedMs })
  expect(orphans.find([aContainer('A')], new Set()).map(({ id }) => id)).toEqual(['c-A'])
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
    orphans.addComplete({ assignments: new Set(), receivedMs: at * MINUTE })
    return orphans.find(own, new Set()).length
  }
  expect([minute(0, all), minute(1, all), minute(2, all.toReversed())]).toEqual([0, 0, 0])
  const more = e === undefined ? all : [...all, e]
  expect([minute(3, more), minute(4, more), minute(5, more)]).toEqual([0, 0, 0])
  // Up to three orphans may be removed without a report.
  expect(minute(6, more.slice(0, 3))).toBe(3)
  expect(reported).toEqual([['n-A', 'n-B', 'n-C', 'n-D'], ['n-A', 'n-B', 'n-C', 'n-D', 'n-E'], []])
})
