// GET /deployments/{name}/placements: the node of each replica and the last reported state of the replica.

import {
  type Assignment,
  type ContainerTemplate,
  defined,
  ownerOf,
  type PlacementEntry,
  type TenantId,
} from '@holdfast/contract'
import { hasFailedEngine, hasLostPrimaries } from '@holdfast/core'
import { isUp } from '@holdfast/core/node'
import { nodes, observations, volumes } from '../../../store/records.ts'
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
  const templates = placement?.templates ?? {}
  const items = (placement?.assignments ?? []).map((each) =>
    entryOf(store, tenant, each, isGone(store, tenant, each, templates[each.templateHash]?.mounts)),
  )
  return done({ items: items.sort((left, right) => left.replica - right.replica) })
}

/**
 * Whether the container has lost its volumes to another node. Its machine may never report again, so the last state that
 * it reported says nothing.
 */
function isGone(
  store: Store,
  tenant: TenantId,
  { desired, nodeId }: Assignment,
  mounts: ContainerTemplate['mounts'] = [],
): boolean {
  const primaryOf = (id: string) => store.get(inTenant(tenant, volumes, id))?.record.primary
  return desired === 'removed' && hasLostPrimaries(mounts, nodeId, primaryOf)
}

function entryOf(
  store: Store,
  tenant: TenantId,
  assignment: Assignment,
  isWithoutVolumes: boolean,
): PlacementEntry {
  const { id, replica, nodeId, revision } = assignment
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  const seen = store.get(inTenant(tenant, observations, id))?.record
  const isOnLostNode = node === undefined || node.status === 'failed' || hasFailedEngine(node)
  const isLost = isOnLostNode || (isWithoutVolumes && seen !== undefined && isUp(seen))
  return {
    replica,
    nodeId,
    nodeName: node?.name ?? nodeId,
    // The response shows the observed state of a replica, never the desired state.
    state: isLost ? 'lost' : (seen?.state ?? 'assigned'),
    containerId: seen?.containerId ?? null,
    startedAt: seen !== undefined && isUp(seen) ? seen.startedAt : null,
    revision,
    ...defined({
      canary: assignment.canary,
      reason: seen?.reason || undefined,
      restarts: seen?.restarts,
      lastExit: seen?.lastExit,
      cause: seen?.cause,
      failedChecks: seen?.failedChecks,
    }),
  }
}
