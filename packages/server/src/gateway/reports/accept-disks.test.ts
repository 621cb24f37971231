// Tests how reports about disks change the record of a node.

import type { DiskUse } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { StoredNode } from '../../store/records.ts'
import { withDisks } from './accept-disks.ts'

const disk = (percent: number): DiskUse => ({
  totalBytes: 1000,
  freeBytes: 1000 - 10 * percent,
  inodes: 0,
  freeInodes: 0,
})
const AT = '2026-01-01T00:00:00.000Z'
const LATER = '2026-01-02T00:00:00.000Z'
const ENGINE = { reason: 'engine_silent', since: AT }
const PRESSURE = { reason: 'disk_pressure', since: AT }
/** The members of a node's record that reports about disks read. */
const nodeWith = (over: Partial<StoredNode> = {}): StoredNode =>
  ({ status: 'ready', session: { epoch: 3 }, ...over }) as StoredNode

test('the first report is stored, and later ones only after a change of one percent', () => {
  const stored = withDisks(nodeWith(), { engine: disk(50) }, AT)
  expect(stored).toMatchObject({ disks: { engine: disk(50) } })
  expect(stored?.health).toBeUndefined()
  expect(withDisks(nodeWith({ disks: { engine: disk(50) } }), { engine: disk(50.5) }, AT)).toBeUndefined()
  expect(withDisks(nodeWith({ disks: { engine: disk(50) } }), { engine: disk(51) }, AT)?.disks).toEqual({
    engine: disk(51),
  })
})

test('pressure begins at 85 %, ends at 80 %, and leaves other faults as they are', () => {
  const health = { epoch: 3, faults: [ENGINE] }
  const pressed = withDisks(nodeWith({ health }), { engine: disk(85) }, AT)
  expect(pressed?.health?.faults).toEqual([ENGINE, PRESSURE])
  const lower = withDisks(nodeWith({ ...pressed }), { engine: disk(81) }, LATER)
  expect(lower?.health?.faults).toEqual([ENGINE, PRESSURE])
  expect(withDisks(nodeWith({ ...lower }), { engine: disk(80) }, LATER)?.health?.faults).toEqual([ENGINE])
})

test('pressure that an earlier session reported does not count, and a full pool is no pressure', () => {
  const health = { epoch: 2, faults: [PRESSURE] }
  const disks = { engine: disk(82), pool: disk(99) }
  expect(withDisks(nodeWith({ health, disks }), disks, LATER)).toBeUndefined()
  expect(withDisks(nodeWith({ health, disks }), { engine: disk(90) }, LATER)?.health).toEqual({
    epoch: 3,
    faults: [{ ...PRESSURE, since: LATER }],
  })
})
