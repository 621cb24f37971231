// Keeps etcd from becoming full, and repairs it if it is: compacts, defragments one member after another, and clears the
// alarm NOSPACE. Every server measures; only the keeper acts (docs/design/upkeep.md).

import {
  type DefragmentationPlan,
  type DefragmentationRules,
  FILLING,
  NO_SPACE,
  planDefragmentation,
  RELEASABLE_BYTES,
  type StoreMember,
} from '@holdfast/core'
import type { EngineMaintenance } from '../../ports/engine-maintenance.ts'
import { EngineError, type EngineStatus, type KeyValueEngine } from '../../ports/key-value.ts'
import type { StoreReserve } from '../../store/reserve.ts'
import type { StorePressure } from '../store-pressure.ts'

export interface UpkeepDeps {
  readonly engine: Pick<KeyValueEngine, 'status' | 'compact'>
  readonly maintenance: EngineMaintenance
  readonly pressure: StorePressure
  readonly reserve: StoreReserve
  /** The configured endpoints of etcd. */
  readonly endpoints: readonly string[]
  /** Undefined if defragmentation is turned off. */
  readonly rules: DefragmentationRules | undefined
  readonly log: UpkeepLog
  /** Whether this server is the keeper, by a view that is fresh. */
  isKeeper(): Promise<boolean>
  currentRevision(): number
  /** Called after each defragmentation, for the metric. */
  onDefragmented(outcome: DefragmentationOutcome): void
}

export const DEFRAGMENTATION_OUTCOMES = ['done', 'failed'] as const
export type DefragmentationOutcome = (typeof DEFRAGMENTATION_OUTCOMES)[number]

export interface UpkeepLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** How often a store with plenty of room is measured. A fuller one is measured at every run. */
const CALM_MS = 5_000
/** etcd continues after this time, so no other member is touched until every member answers again. */
const DEFRAGMENT_MS = 120_000
const PROBE_MS = 1_000
const COMPACT_MS = 30_000
/** How much history an etcd keeps that is filling up. A full one keeps none. */
const KEPT_MS = 10_000
/** The reserve is written while etcd is filled between these shares: small stores need none, and full ones have no room. */
const RESERVE_FROM = 0.5
const RESERVE_TO = 0.85
/** The alarm is cleared if this part of the quota is free: enough for deletions, until those have released more. */
const CLEARED_WITH_FREE = 1 / 128

interface State extends UpkeepDeps {
  /** When each member was last defragmented, on the monotonic clock. */
  readonly defragmentedAt: Map<string, number>
  /** The lasting state that was logged last, so that each change is logged once. */
  reported: string | undefined
  /** The revision up to which the history is compacted next while etcd is filling up. */
  mark: { readonly at: number; readonly revision: number } | undefined
}

export function createUpkeep(deps: UpkeepDeps): () => Promise<void> {
  const state: State = { ...deps, defragmentedAt: new Map(), reported: undefined, mark: undefined }
  let measuredAt = Number.NEGATIVE_INFINITY
  return async () => {
    const { pressure, reserve } = state
    const isCalm = pressure.ratio < RESERVE_FROM && (pressure.alarms ?? []).length === 0
    if (isCalm && performance.now() - measuredAt < CALM_MS) return
    await pressure.measure()
    measuredAt = performance.now()
    if (pressure.size === undefined || !(await state.isKeeper())) return
    const isFull = pressure.alarms?.includes(NO_SPACE) === true
    if (isFull) await compactTo(state, state.currentRevision())
    else if (pressure.ratio > FILLING) await compactRecent(state)
    await defragmentDue(state)
    if (isFull) await repair(state)
    else if (pressure.ratio > RESERVE_FROM && pressure.ratio < RESERVE_TO) await reserve.refill()
  }
}

/** Compacts up to the revision of the previous mark, so that lists which are being read page by page can finish. */
async function compactRecent(state: State): Promise<void> {
  const { mark } = state
  if (mark !== undefined && performance.now() - mark.at < KEPT_MS) return
  state.mark = { at: performance.now(), revision: state.currentRevision() }
  if (mark !== undefined) await compactTo(state, mark.revision)
}

async function compactTo({ engine }: State, target: number): Promise<void> {
  try {
    await engine.compact(target, { deadlineMs: COMPACT_MS, physical: true })
  } catch (error) {
    // Ignored: the history up to a later revision is compacted already.
    if (!(error instanceof EngineError && error.reason === 'compacted')) throw error
  }
}

async function defragmentDue(state: State): Promise<void> {
  for (let count = 0; count < state.endpoints.length; count += 1) {
    const plan = await planNext(state)
    if (plan.kind !== 'defragment') return reportObstacle(state, plan)
    // A member may have become slow since, and another server may have become the keeper.
    await Promise.all(state.endpoints.map((one) => state.maintenance.probe(one, { deadlineMs: PROBE_MS })))
    if (!(await state.isKeeper())) return
    await defragment(state, plan.member)
  }
}

async function planNext(state: State): Promise<DefragmentationPlan> {
  if (state.rules === undefined) return { kind: 'none' }
  const now = performance.now()
  const facts = {
    members: (await state.engine.status()).map(memberOf),
    configured: state.endpoints.length,
    quotaBytes: state.pressure.quotaBytes,
    sinceMs(endpoint: string) {
      const at = state.defragmentedAt.get(endpoint)
      return at === undefined ? undefined : now - at
    },
  }
  return planDefragmentation(facts, state.rules)
}

const memberOf = (status: EngineStatus): StoreMember => ({
  endpoint: status.endpoint,
  fileBytes: status.dbSizeBytes,
  inUseBytes: status.dbSizeInUseBytes,
  leader: status.leader,
  alarms: status.alarms,
})

async function defragment(state: State, member: StoreMember): Promise<void> {
  const { endpoint, fileBytes, inUseBytes } = member
  const { log } = state
  state.defragmentedAt.set(endpoint, performance.now())
  log.info({ endpoint, fileBytes, inUseBytes }, 'defragmentation of etcd member started')
  const startedAt = performance.now()
  try {
    await state.maintenance.defragment(endpoint, { deadlineMs: DEFRAGMENT_MS })
  } catch (error) {
    state.onDefragmented('failed')
    log.warn(
      { endpoint, error: String(error) },
      'defragmentation of etcd member failed, retrying after the interval; check the member, and that the etcd user is root if etcd has users',
    )
    throw error
  }
  state.onDefragmented('done')
  const durationMs = Math.round(performance.now() - startedAt)
  await state.pressure.measure()
  log.info({ endpoint, durationMs, largestFile: state.pressure.size?.fileBytes }, 'etcd member defragmented')
}

function reportObstacle(state: State, plan: DefragmentationPlan): void {
  if (plan.kind === 'blocked')
    reportOnce(state, `blocked ${plan.why}`, () =>
      state.log.warn(
        { why: plan.why },
        'defragmentation of etcd is due and waits until all members are healthy',
      ),
    )
}

function reportOnce(state: State, what: string, report: () => void): void {
  if (state.reported !== what) report()
  state.reported = what
}

/** Clears NOSPACE if there is room; otherwise releases the reserve, for which the next run then makes room. */
async function repair(state: State): Promise<void> {
  const { pressure, maintenance, reserve, log } = state
  await pressure.measure()
  const { quotaBytes, size } = pressure
  const freeBytes = quotaBytes - (size?.fileBytes ?? quotaBytes)
  if (freeBytes >= quotaBytes * CLEARED_WITH_FREE) {
    await maintenance.clearNoSpace()
    log.info({ freeBytes, quotaBytes }, 'etcd has room again, alarm NOSPACE cleared')
    state.reported = undefined
    return
  }
  // The next defragmentation, seconds later, makes room.
  if (state.rules !== undefined && size !== undefined && size.fileBytes - size.inUseBytes > RELEASABLE_BYTES)
    return
  if (await reserve.release()) {
    log.warn({ quotaBytes }, 'etcd is full, reserve released so that deletions can be written')
    return
  }
  reportOnce(state, 'full', () =>
    log.error(
      { ...size, quotaBytes },
      'etcd is full and nothing more can be released: raise --quota-backend-bytes of etcd and etcd.quotaBytes together',
    ),
  )
}
