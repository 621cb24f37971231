// Publishes an event for each fence that a primary reports: its writers were ended, because copies did not promise.

import type { TenantId } from '@holdfast/contract'
import { recordEventOnce } from '../../../operations/record-write.ts'
import { fencedEvent } from '../../../operations/volumes/promotion/promotion-events.ts'
import { namesOfNodes } from '../../../operations/volumes/volume-view.ts'
import { copyReportId, type StoredCopyReport, volumes } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import { LostLeadershipError } from '../../leadership/fence.ts'
import type { PromotionLoopDeps } from './promote-tenant.ts'

interface NotedFence {
  readonly tenant: TenantId
  readonly report: StoredCopyReport
}

export function createFenceNotes(deps: PromotionLoopDeps) {
  const waiting = new Map<string, NotedFence>()
  return {
    notice(tenant: TenantId, report: StoredCopyReport): void {
      waiting.set(`${tenant}/${copyReportId(report.volume, report.nodeId)}`, { tenant, report })
    },
    async flush(): Promise<void> {
      for (const [key, fence] of waiting) {
        await publish(deps, fence)
        if (waiting.get(key) === fence) waiting.delete(key)
      }
    },
  }
}

async function publish(
  { store, clock, leadership }: PromotionLoopDeps,
  { tenant, report }: NotedFence,
): Promise<void> {
  const { volume: id, fencedSince } = report
  if (fencedSince === undefined) return
  try {
    await leadership.fenced(tenant, (transaction) => {
      const volume = transaction.get(inTenant(tenant, volumes, id))
      const nameOf = namesOfNodes(store, tenant)
      const isNew =
        volume !== undefined &&
        recordEventOnce(transaction, clock, tenant, fencedEvent(volume, report, fencedSince, nameOf))
      return { kind: isNew ? 'commit' : 'abort', result: undefined }
    })
  } catch (error) {
    // The process that owns the shard now publishes the event.
    if (!(error instanceof LostLeadershipError)) throw error
  }
}
