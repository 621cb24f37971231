import type { DiskUse, NodeDisks } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { startDiskReporter } from './report-disks.ts'

const use = (freeBytes: number): DiskUse => ({ totalBytes: 1000, freeBytes, inodes: 0, freeInodes: 0 })

function start() {
  const world = {
    engine: use(500) as DiskUse | undefined,
    pool: undefined as { poolBytes: number; usedBytes: number; fault?: string } | undefined,
    reports: [] as NodeDisks[],
  }
  const reporter = startDiskReporter({
    readEngine: async () => world.engine,
    pool: () => world.pool,
    report: (disks) => void world.reports.push(disks),
    checkMs: 3_600_000,
  })
  return { world, reporter }
}

test('reports the first measurement and each change of one percent twice, and nothing else', async () => {
  const { world, reporter } = start()
  await reporter.check()
  world.engine = use(495)
  await reporter.check()
  world.engine = use(490)
  for (let check = 0; check < 4; check += 1) await reporter.check()
  const [first, second] = [{ engine: use(500) }, { engine: use(490) }]
  expect(world.reports).toEqual([first, first, second, second])
  expect(reporter.disks()).toEqual({ engine: use(490) })
  reporter.close()
})

test('a disk that cannot be read changes nothing, and a pool is reported while it has no fault', async () => {
  const { world, reporter } = start()
  world.engine = undefined
  await reporter.check()
  expect([world.reports, reporter.disks()]).toEqual([[], undefined])
  world.engine = use(500)
  world.pool = { poolBytes: 100, usedBytes: 30 }
  await reporter.check()
  world.pool = { poolBytes: 0, usedBytes: 0, fault: 'pool_missing' }
  await reporter.check()
  const pool = { totalBytes: 100, freeBytes: 70, inodes: 0, freeInodes: 0 }
  expect(world.reports).toEqual([{ engine: use(500), pool }, { engine: use(500) }])
  reporter.close()
})
