// The promotion controller. A copy reports that its promise to the primary has expired. While that is so, and the primary
// is silent, the process that owns the tenant's shard asks the copies, prepares the best one and promotes it.
// See docs/design/promoting.md#controller

import type { TenantId, VolumeId } from '@holdfast/contract'
import type { Change } from '../../../store/cache/record-index.ts'
import { copyReports, type StoredCopyReport, tenants, volumes } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import { type Repeating, repeat } from '../../repeat.ts'
import { createFenceNotes } from './note-fences.ts'
import { type PromotionLoopDeps, promoteTenant } from './promote-tenant.ts'

export interface PromotionControllerDeps extends PromotionLoopDeps {
  /** How often an open promotion is tried again. */
  readonly everyMs?: number
}

const EVERY_MS = 1_000

export function startPromotions(deps: PromotionControllerDeps): Repeating {
  const { store, leadership, everyMs = EVERY_MS } = deps
  const rounds = createRounds(deps)
  const fences = createFenceNotes(deps)
  const notice = (tenant: TenantId, report: StoredCopyReport): boolean => {
    const { isPromiseExpired, fencedSince, volume } = report
    if (isPromiseExpired === true) rounds.notice(tenant, volume)
    if (fencedSince !== undefined) fences.notice(tenant, report)
    return isPromiseExpired === true || fencedSince !== undefined
  }
  const noticeAll = (): void => {
    for (const { record } of store.list(tenants)) {
      if (!leadership.owns(record.id)) continue
      for (const { record: report } of store.list(copyReports, record.id)) notice(record.id, report)
      for (const { record: volume } of store.list(volumes, record.id))
        if (volume.unpromoted) rounds.notice(record.id, volume.id)
    }
  }
  const loop = repeat(
    everyMs,
    async () => {
      rounds.start()
      await fences.flush()
    },
    (error) => deps.onError(error, ''),
  )
  const unwatch = store.subscribe((changes) => {
    const found = changes.filter((change) => noticeChange(deps, change, notice))
    if (found.length > 0) loop.nudge()
  })
  const unfollow = leadership.subscribe(noticeAll)
  noticeAll()
  return {
    nudge: loop.nudge,
    async stop() {
      unwatch()
      unfollow()
      await loop.stop()
      await rounds.settled()
    },
  }
}

function noticeChange(
  { store, leadership }: PromotionLoopDeps,
  { key: { tenant, folder, id }, kind }: Change,
  notice: (tenant: TenantId, report: StoredCopyReport) => boolean,
): boolean {
  if (folder !== copyReports.folder || kind !== 'put' || tenant === undefined || !leadership.owns(tenant))
    return false
  const report = store.get(inTenant(tenant, copyReports, id))?.record
  return report !== undefined && notice(tenant, report)
}

/** The volumes to check, and the round of each tenant that is under way. A slow node delays its own tenant only. */
function createRounds(deps: PromotionLoopDeps) {
  const waiting = new Map<TenantId, Set<VolumeId>>()
  const running = new Map<TenantId, Promise<void>>()
  const notice = (tenant: TenantId, id: VolumeId): void => {
    waiting.set(tenant, (waiting.get(tenant) ?? new Set()).add(id))
  }
  return {
    notice,
    start(): void {
      for (const [tenant, ids] of waiting) {
        if (running.has(tenant)) continue
        waiting.delete(tenant)
        const work = promoteTenant(deps, tenant, ids)
          .then((open) => {
            for (const id of open) notice(tenant, id)
          })
          .catch((error: unknown) => {
            for (const id of ids) notice(tenant, id)
            deps.onError(error, tenant)
          })
          .finally(() => running.delete(tenant))
        running.set(tenant, work)
      }
    },
    settled: async () => void (await Promise.all(running.values())),
  }
}
