// Nodes whose session nobody holds any more, because the server replica that held it is gone: the owner of the shard gives
// them their time anew and then says what became of them. SAFETY 4e, DECISIONS 5 (Node).

import type { NodeId, TenantId } from '@holdfast/contract'
import { dueToSilence, type SilenceTimes, stageStatus } from '../../operations/nodes/node-status.ts'
import { nodes, type StoredNode, serverReplicas, tenants } from '../../store/records.ts'
import { globally, inTenant } from '../../store/transaction.ts'
import type { PlacingDeps } from './controller.ts'

/** `since` is counted from when we first saw that nobody holds the session, on our own clock. */
export function createSilentNodes(
  deps: Pick<PlacingDeps, 'store' | 'clock' | 'leadership'>,
  times: SilenceTimes,
) {
  const since = new Map<NodeId, { readonly epoch: number; readonly at: number }>()
  return {
    /** After a takeover all grace begins anew. */
    restart: () => since.clear(),
    async look(now: number): Promise<void> {
      for (const { record: tenant } of deps.store.list(tenants)) {
        if (!deps.leadership.owns(tenant.id)) continue
        for (const { record: node } of deps.store.list(nodes, tenant.id)) await judge(tenant.id, node, now)
      }
    },
  }

  async function judge(tenant: TenantId, node: StoredNode, now: number): Promise<void> {
    const { replica, epoch } = node.session
    const held = replica === null || deps.store.get(globally(serverReplicas, replica)) !== undefined
    if (held || node.status === 'pending' || node.status === 'failed') {
      since.delete(node.id)
      return
    }
    const known = since.get(node.id)
    const at = known?.epoch === epoch ? known.at : now
    since.set(node.id, { epoch, at })
    const due = dueToSilence(node.status, now - at, times)
    if (due === undefined) return
    await deps.leadership.fenced<void>(tenant, (transaction) => {
      const current = transaction.get(inTenant(tenant, nodes, node.id))
      // A session that was opened meanwhile, or a holder that came back, speaks for itself.
      if (current?.session.epoch !== epoch || current.status !== node.status)
        return { kind: 'refuse', result: undefined }
      stageStatus(transaction, deps.clock, tenant, current, due, times)
      return { kind: 'commit', result: undefined }
    })
  }
}
