// Tests which faults make a node degraded, and how reports of the agent change them.

import { expect, test } from 'vitest'
import { carriedHealth, type FaultyNode, faultsOf, nextHealth, nodeSince } from './node-faults.ts'

const AT = '2026-01-01T00:00:00.000Z'
const LATER = '2026-01-02T00:00:00.000Z'
const READY: FaultyNode = { status: 'ready', statusSince: AT, session: { epoch: 3 } }
const ENGINE = { reason: 'engine_silent', since: LATER }
const DISK = { reason: 'disk_pressure', since: LATER }
const POOL = { reason: 'pool_changed', since: LATER }
const NEWER = { reason: 'newer', since: LATER }

test.each<[string, Partial<FaultyNode>, readonly object[]]>([
  ['without a fault', {}, []],
  ['with a changed pool', { degraded: POOL }, [POOL]],
  ['with a silent engine', { health: { epoch: 3, faults: [ENGINE] } }, [ENGINE]],
  [
    'with all faults',
    { degraded: POOL, health: { epoch: 3, faults: [NEWER, DISK, ENGINE] } },
    [ENGINE, DISK, POOL, NEWER],
  ],
  ['with the health of an older session', { health: { epoch: 2, faults: [ENGINE] } }, []],
  ['unreachable', { status: 'unreachable', degraded: POOL, health: { epoch: 3, faults: [ENGINE] } }, []],
])('lists the faults of a node %s', (_what, node, faults) => {
  expect(faultsOf({ ...READY, ...node })).toEqual(faults)
})

test('a node has its status since its oldest fault, or since the change of its status', () => {
  expect(nodeSince(READY)).toBe(AT)
  const health = { epoch: 3, faults: [{ ...ENGINE, since: '2026-01-03T00:00:00.000Z' }, DISK] }
  expect(nodeSince({ ...READY, health })).toBe(LATER)
  expect(nodeSince({ ...READY, status: 'failed', health })).toBe(AT)
})

test('a report about one kind of fault leaves the others', () => {
  const health = { epoch: 3, faults: [DISK] }
  const both = nextHealth({ ...READY, health }, 'engine_silent', { since: LATER })
  expect(both).toEqual({ epoch: 3, faults: [ENGINE, DISK] })
  const failed = nextHealth({ ...READY, health: both }, 'engine_silent', { since: LATER, failed: true })
  expect(failed?.faults).toEqual([{ ...ENGINE, failed: true }, DISK])
  expect(nextHealth({ ...READY, health: failed }, 'engine_silent', undefined)).toEqual(health)
  expect(nextHealth({ ...READY, health }, 'disk_pressure', undefined)).toBeUndefined()
})

test('a report in a new session drops what an older server left from the session before', () => {
  const health = { epoch: 2, faults: [DISK] }
  expect(nextHealth({ ...READY, health }, 'engine_silent', { since: LATER })).toEqual({
    epoch: 3,
    faults: [ENGINE],
  })
})

test('a new session keeps the faults that its agent reports about', () => {
  const health = { epoch: 3, faults: [ENGINE, DISK] }
  const isReported = (reason: string) => reason === 'engine_silent'
  expect(carriedHealth({ ...READY, health }, isReported)).toEqual({ epoch: 4, faults: [ENGINE] })
  expect(carriedHealth({ ...READY, health }, () => false)).toBeUndefined()
  const left = { epoch: 2, faults: [ENGINE] }
  expect(carriedHealth({ ...READY, health: left }, isReported)).toBeUndefined()
})
