// Brings one copy of a volume to its desired state: plans, performs the steps, and confirms the result by reading the pool
// again.

import type { DesiredCopy, ObservedCopy, VolumeId } from '@holdfast/contract'
import { type CopyPlan, copyWithFault, type FoundCopy, isMountable, planCopy } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { PoolError, type VolumePool } from '../ports/volume-pool.ts'
import type { CopyBackoff } from './copy-backoff.ts'
import type { CopyStatus } from './copy-status.ts'
import type { DesiredCopies } from './desired-copies.ts'
import { reportedFault } from './keep-pool.ts'
import { type PoolCopies, perform, readPoolCopies } from './pool-copies.ts'

interface ConvergerDeps {
  readonly desired: DesiredCopies
  readonly status: CopyStatus
  readonly backoff: CopyBackoff
  /** Whether the pool has room for a new copy. */
  hasRoom(): boolean
  /** Whether a fence keeps the volume unmounted. */
  isFenced(volume: VolumeId): boolean
  readonly log: Logger
}

export interface CopyConverger {
  /** Returns what the pool holds afterwards. Rejects only if the pool cannot be read. */
  converge(pool: VolumePool, copy: DesiredCopy, held: PoolCopies): Promise<PoolCopies>
  /** Reports a copy whose pool cannot be used. */
  recordFault(copy: DesiredCopy, reason: string): void
}

interface FoundPlan extends CopyPlan {
  readonly found: FoundCopy
}

export function createCopyConverger(deps: ConvergerDeps): CopyConverger {
  const { desired, status, backoff, log } = deps
  const record = (copy: DesiredCopy, observed: ObservedCopy, found: FoundCopy | undefined): void => {
    const path = found?.live?.mountPoint
    const isUsable = found !== undefined && isMountable(copy, found)
    status.update(observed, isUsable && path !== undefined ? { path, epoch: copy.epoch } : undefined)
  }
  const recordFault = (copy: DesiredCopy, reason: string): void =>
    record(copy, copyWithFault(copy, reason, status.of(copy.volume)), undefined)

  /** Undefined if nothing may be done with the copy. */
  function plan(copy: DesiredCopy, held: PoolCopies): FoundPlan | undefined {
    const found = held.find(copy.volume)
    if (found === undefined) {
      recordFault(copy, 'pool_unreadable')
      return undefined
    }
    const facts = {
      isConfirmed: desired.isConfirmed(copy.volume),
      hasRoom: deps.hasRoom(),
      isFenced: deps.isFenced(copy.volume),
    }
    const planned = planCopy(copy, found, facts)
    if (planned !== undefined) return { ...planned, found }
    log.warn({ volume: copy.volume, epoch: copy.epoch, known: found.note?.epoch }, 'outdated copy ignored')
    return undefined
  }

  async function act(pool: VolumePool, copy: DesiredCopy, { actions }: FoundPlan): Promise<PoolCopies> {
    for (const action of actions) await perform(pool, copy.volume, action)
    const held = await readPoolCopies(pool)
    const next = plan(copy, held)
    if (next === undefined) return held
    if (next.actions.length > 0) throw new Error('The pool is not as planned.')
    record(copy, next.observed, next.found)
    backoff.clear(copy.volume)
    const { volume, epoch, state } = next.observed
    log.info({ volume, epoch, state, actions: actions.map(({ kind }) => kind) }, 'copy changed')
    return held
  }
  return {
    recordFault,
    async converge(pool, copy, held) {
      const planned = plan(copy, held)
      if (planned === undefined) return held
      if (planned.actions.length === 0) {
        backoff.clear(copy.volume)
        record(copy, planned.observed, planned.found)
        return held
      }
      if (backoff.isWaiting(copy)) return held
      try {
        return await act(pool, copy, planned)
      } catch (error) {
        const reason = reasonOf(error)
        const state = reason === 'busy' ? 'pending' : 'failed'
        record(copy, { ...planned.observed, state, reason }, planned.found)
        const retryMs = backoff.recordFailure(copy)
        const message = error instanceof Error ? error.message : String(error)
        log.warn({ volume: copy.volume, message, retryMs }, 'copy failed')
        return readPoolCopies(pool)
      }
    },
  }
}

/** The reason in the report about a copy whose steps failed. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return 'no_room'
  const fault = error instanceof PoolError ? error.fault : 'failed'
  if (fault === 'full') return 'no_room'
  if (fault === 'busy') return 'busy'
  return fault === 'missing' || fault === 'changed' ? reportedFault(error) : 'pool_error'
}
