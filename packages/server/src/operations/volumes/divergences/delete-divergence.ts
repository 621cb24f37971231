// DELETE .../volumes/{id}/divergences/{epoch}: a node deletes data that it keeps in quarantine. The response follows the
// confirmation of its agent; data that is already gone counts as deleted.

import type { DeletedDivergence, NodeId, TenantId } from '@holdfast/contract'
import type { Clock } from '../../../ports/clock.ts'
import type { DivergenceCalls } from '../../../ports/divergence-calls.ts'
import { pools } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { checkIfMatch } from '../../preconditions.ts'
import { auditDivergence } from './audit-divergence.ts'
import { findDivergence, type NamedDivergence, nodeUnavailable } from './find-divergence.ts'

export interface DeleteDivergenceDeps {
  readonly store: Store
  readonly clock: Clock
  readonly divergences: DivergenceCalls
}

interface DeleteDivergenceOptions {
  readonly node: string | undefined
  readonly ifMatch: string | undefined
}

export async function deleteDivergence(
  deps: DeleteDivergenceDeps,
  caller: Caller,
  path: { readonly id: string; readonly epoch: string },
  { node, ifMatch }: DeleteDivergenceOptions,
): Promise<Outcome<DeletedDivergence>> {
  const { store, divergences } = deps
  const { tenant } = caller
  await store.fresh()
  const found = findDivergence(store, tenant, path, node)
  if (!found.ok) return found
  const { kept, volume, epoch } = found.value
  if (kept === undefined) return done({ epoch })
  const conflict = checkIfMatch(ifMatch, kept.revision ?? 0)
  if (conflict !== undefined) return refused(conflict)
  // The entry is written first, so that no deletion goes without one.
  const gone = await auditDivergence(deps, caller, 'volumes:delete-divergence', volume, kept)
  if (gone !== undefined) return refused(gone)
  const { nodeId, nodeName } = kept
  const outcome = await divergences.deleteKept(tenant, nodeId, { volume: volume.id, epoch })
  if (outcome === 'unconfirmed') return nodeUnavailable(nodeName)
  await dropFromReport(store, tenant, nodeId, found.value)
  return done({ epoch, nodeId, nodeName })
}

/** The agent's next report lacks the data too; until then, lists must not show what the agent confirmed as deleted. */
async function dropFromReport(
  store: Store,
  tenant: TenantId,
  nodeId: NodeId,
  { volume, epoch }: NamedDivergence,
): Promise<void> {
  await store.transact((transaction) => {
    const address = inTenant(tenant, pools, nodeId)
    const pool = transaction.get(address)
    const kept = pool?.quarantined?.filter((one) => one.volume !== volume.id || one.epoch !== epoch)
    if (pool === undefined || kept?.length === pool.quarantined?.length)
      return { kind: 'abort', result: undefined }
    transaction.put(address, { ...pool, ...(kept && { quarantined: kept }) })
    return { kind: 'commit', result: undefined }
  })
}
