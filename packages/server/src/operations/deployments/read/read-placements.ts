// GET /deployments/{name}/placements: the node of each replica and the last reported state of the replica.

import { type Assignment, defined, ownerOf, type PlacementEntry, type TenantId } from '@holdfast/contract'
import { isUp } from '@holdfast/core/node'
import { nodes, observations } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import { done, type Outcome } from '../../caller.ts'
import { findStored } from './find-deployment.ts'

export async function readPlacements(
  store: Store,
  tenant: TenantId,
  path: string,
): Promise<Outcome<{ readonly items: readonly PlacementEntry[] }>> {
  await store.fresh()
  const found = findStored(store, tenant, path)
  if (!found.ok) return found
  const placement = store.get(placementAt(tenant, ownerOf('deployment', found.value.uid)))?.record
  const items = (placement?.assignments ?? []).map((each) => entryOf(store, tenant, each))
  return done({ items: items.sort((left, right) => left.replica - right.replica) })
}

function entryOf(store: Store, tenant: TenantId, assignment: Assignment): PlacementEntry {
  const { id, replica, nodeId, revision } = assignment
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  const seen = store.get(inTenant(tenant, observations, id))?.record
  return {
    replica,
    nodeId,
    nodeName: node?.name ?? nodeId,
    // The response shows the observed state of a replica, never the desired state.
    state: node === undefined || node.status === 'failed' ? 'lost' : (seen?.state ?? 'assigned'),
    containerId: seen?.containerId ?? null,
    startedAt: seen !== undefined && isUp(seen) ? seen.startedAt : null,
    revision,
    ...defined({
      reason: seen?.reason || undefined,
      restarts: seen?.restarts,
      lastExit: seen?.lastExit,
      cause: seen?.cause,
      failedChecks: seen?.failedChecks,
    }),
  }
}
