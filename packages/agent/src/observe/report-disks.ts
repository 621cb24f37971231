// Measures the disks of the node and reports them after a change: that of the engine, and that of the pool.
// See docs/design/disks.md#reports

import { type DiskUse, defined, type NodeDisks } from '@holdfast/contract'
import { isDiskNews } from '@holdfast/core/node'
import type { Storage } from '../ports/session.ts'
import { coalesce } from '../routing/coalesce.ts'

const CHECK_MS = 20_000
/** A change is sent again at the next check, because the server drops a report that follows another one within seconds. */
const TIMES = 2

export interface DiskReporter {
  /** The disks as reported last; undefined until they could be read. */
  disks(): NodeDisks | undefined
  /** Measures now, and reports a change. Never rejects. */
  check(): Promise<void>
  close(): void
}

interface ReporterDeps {
  /** The disk of the engine; undefined if it cannot be read. */
  readEngine(): Promise<DiskUse | undefined>
  /** The pool at its last check; undefined without a pool. */
  pool(): Storage | undefined
  report(disks: NodeDisks): void
  readonly checkMs?: number
}

export function startDiskReporter({ readEngine, pool, report, checkMs }: ReporterDeps): DiskReporter {
  let reported: NodeDisks | undefined
  let unsent = 0
  const check = coalesce(async () => {
    const engine = await readEngine()
    // A disk that cannot be read is no news: the server keeps what it knows.
    if (engine === undefined) return
    const now = { engine, ...defined({ pool: poolUse(pool()) }) }
    if (isDiskNews(reported, now)) [reported, unsent] = [now, TIMES]
    if (reported === undefined || unsent === 0) return
    unsent -= 1
    report(reported)
  })
  const timer = setInterval(() => void check(), checkMs ?? CHECK_MS).unref()
  return { disks: () => reported, check, close: () => clearInterval(timer) }
}

/** A pool has no limit of inodes, and with a fault it has no size. */
function poolUse(storage: Storage | undefined): DiskUse | undefined {
  if (storage === undefined || storage.fault !== undefined) return undefined
  const { poolBytes, usedBytes } = storage
  return { totalBytes: poolBytes, freeBytes: Math.max(0, poolBytes - usedBytes), inodes: 0, freeInodes: 0 }
}
