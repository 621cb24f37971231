// Keeps the node's copies of volumes as desired, one copy at a time. A pass runs after each check of the pool and after
// each change of the desired copies. A copy that fails waits with growing delays; the others continue.
// See docs/design/storage.md#copies-of-a-node

import {
  asVolumeId,
  type Measurement,
  type ObservedCopy,
  type PoolReport,
  type VolumeId,
} from '@holdfast/contract'
import { hasRoom } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { LiveCopies } from '../ports/live-copies.ts'
import type { DesiredChange } from '../ports/session.ts'
import type { MountableCopies } from '../ports/volume-copies.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import { coalesce } from '../routing/coalesce.ts'
import { createCopyConverger } from './converge-copy.ts'
import { createCopyBackoff } from './copy-backoff.ts'
import { createCopyStatus } from './copy-status.ts'
import { createDesiredCopies, type DesiredCopies } from './desired-copies.ts'
import { createOfferKeeper } from './keep-offers.ts'
import type { PoolKeeper } from './keep-pool.ts'
import { createLiveView } from './live-copies.ts'
import { type PoolCopies, readPoolCopies } from './pool-copies.ts'
import { createPoolReports } from './pool-report.ts'
import { createUsageLog } from './usage-log.ts'

/** The most volumes that one log line names. */
const MAX_LOGGED = 100

interface CopyKeeperDeps {
  /** Undefined if the node has no pool. */
  readonly pool: PoolKeeper | undefined
  report(copies: ObservedCopy[]): void
  /** Reports the pool and what it holds, after a change. */
  reportPool?(report: PoolReport): void
  /** Whether a fence keeps the volume unmounted; absent: none ever does. */
  isFenced?(volume: VolumeId): boolean
  /** A monotonic clock in milliseconds. */
  monotonicMs(): number
  now(): Date
  random(): number
  readonly log: Logger
}

export interface CopyKeeper extends MountableCopies, LiveCopies, Pick<DesiredCopies, 'saved' | 'copies'> {
  apply(change: DesiredChange, source: 'server' | 'disk'): void
  /** All copies as last observed. */
  observed(): ObservedCopy[]
  /** The pool and what it holds; undefined without a pool, and until a server has sent the copies of the node. */
  poolReport(): PoolReport | undefined
  measurements(): Measurement[]
  /** Runs a pass that begins after this call. Never rejects. */
  check(): Promise<void>
  /** Resolves when no pass runs. The copies stay as they are. */
  close(): Promise<void>
}

export function startCopyKeeper(deps: CopyKeeperDeps): CopyKeeper {
  const { pool: keeper, log } = deps
  const desired = createDesiredCopies()
  const status = createCopyStatus(deps.report)
  const backoff = createCopyBackoff(deps.monotonicMs, deps.random)
  const usage = createUsageLog()
  const roomNow = (): boolean => poolHasRoom(keeper)
  const isFenced = deps.isFenced ?? (() => false)
  const { converge, recordFault } = createCopyConverger({
    ...{ desired, status, backoff, hasRoom: roomNow },
    isFenced,
    log,
  })
  const tidy = createTidying(desired, log)
  const offers = createOfferKeeper({ desired, keeper, now: deps.now, log })
  const reports = createPoolReports(keeper, deps.reportPool ?? (() => {}))
  let isMeasureDue = true

  async function pass(): Promise<void> {
    const copies = [...desired.copies.values()]
    status.keepOnly(desired.copies)
    backoff.keepOnly(desired.copies)
    const pool = keeper?.pool()
    if (pool === undefined) {
      for (const copy of copies) recordFault(copy, faultOf(keeper))
      if (desired.isComplete()) reports.update(undefined)
      return
    }
    if (copies.length === 0 && !desired.isComplete()) return
    const isMeasured = isMeasureDue
    isMeasureDue = false
    if (isMeasured) await pool.flush()
    let held = await live.writeReleases(pool, await readPoolCopies(pool))
    for (const copy of copies) if (!passes.isClosed()) held = await converge(pool, copy, held)
    live.update(held)
    held = await offers.perform(pool, held)
    await tidy(pool, held)
    if (desired.isComplete()) reports.update(held)
    if (isMeasured) await usage.record(pool, usedBytes(desired, held), deps.now().toISOString())
  }
  const passes = createPasses(pass, backoff.soonestMs, log)
  const { check } = passes
  const live = createLiveView(() => check(), desired.copies)
  keeper?.onChecked(() => {
    isMeasureDue = true
    void check()
  })
  return {
    mountPoint: status.mountPoint,
    onChange: status.onChange,
    observed: status.observed,
    poolReport: reports.current,
    measurements: usage.measurements,
    saved: desired.saved,
    copies: desired.copies,
    liveEpoch: live.liveEpoch,
    isReleased: live.isReleased,
    release: live.release,
    check,
    apply(change, source) {
      desired.apply(change, source)
      offers.apply(change)
      const passed = check()
      // A pass that runs must not write into a pool that is being emptied.
      if (source === 'server' && change.wipePool !== undefined)
        void passed.then(() => offers.wipe(change.wipePool))
    },
    close: passes.close,
  }
}

/** Runs passes one after another. Copies that wait after a failure are tried again by a timer. */
function createPasses(pass: () => Promise<void>, soonestMs: () => number, log: Logger) {
  let isClosed = false
  let retry: NodeJS.Timeout | undefined
  const check = coalesce(async () => {
    clearTimeout(retry)
    if (isClosed) return
    // If the pool could not be read, nothing was observed and nothing is reported: the next check of the pool repeats the
    // pass or reports the fault.
    await pass().catch((error: unknown) => log.warn({ message: String(error) }, 'copies not checked'))
    const waitMs = soonestMs()
    if (Number.isFinite(waitMs) && !isClosed) retry = setTimeout(() => void check(), waitMs).unref()
  })
  return {
    check,
    isClosed: () => isClosed,
    async close() {
      isClosed = true
      await check()
    },
  }
}

function poolHasRoom(keeper: PoolKeeper | undefined): boolean {
  const storage = keeper?.state().storage
  return storage !== undefined && hasRoom(storage)
}

function faultOf(keeper: PoolKeeper | undefined): string {
  return keeper === undefined ? 'no_pool' : (keeper.state().poolFault ?? 'pool_unreadable')
}

/**
 * Logs the copies that are not desired, which stay, and drops the notes of removed copies that the server does not list.
 * Only a complete set of this run proves that a copy is not desired.
 */
function createTidying(desired: DesiredCopies, log: Logger) {
  let logged = ''
  const isDesired = (volume: string): boolean => desired.copies.has(asVolumeId(volume))
  return async (pool: VolumePool, held: PoolCopies): Promise<void> => {
    if (!desired.isComplete()) return
    const left = [...held.volumes].filter((volume) => !isDesired(volume)).toSorted()
    if (left.join() !== logged)
      log.warn({ count: left.length, volumes: left.slice(0, MAX_LOGGED) }, 'copies not desired')
    logged = left.join()
    for (const volume of held.removed) if (!isDesired(volume)) await pool.removeNote(volume)
  }
}

function usedBytes({ copies }: DesiredCopies, held: PoolCopies): ReadonlyMap<VolumeId, number> {
  const found = new Map<VolumeId, number>()
  for (const volume of copies.keys()) {
    const bytes = held.find(volume)?.usedBytes
    if (bytes !== undefined) found.set(volume, bytes)
  }
  return found
}
