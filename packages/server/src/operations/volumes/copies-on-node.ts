// Whether volumes keep a node from leaving its tenant or from being drained. The cache must show the node as
// unschedulable: then it shows all copies that were placed on it, and later ones fail at commit.

import type { NodeId, TenantId } from '@holdfast/contract'
import { nodes, type StoredVolume, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'

type ReadStore = Pick<Store, 'get' | 'keysOf'>

/** Whether the node may have data of a volume. A volume that cannot be read may have a copy on any node. */
export const hasVolumeData = (store: ReadStore, tenant: TenantId, nodeId: NodeId): boolean =>
  someVolume(store, tenant, ({ copies, leaving = [] }) =>
    [...copies, ...leaving].some((copy) => copy.nodeId === nodeId),
  )

/** Whether a drain waits: for a primary on the node, or until the controller has marked the replicas that must leave. */
export const delaysDrain = (store: ReadStore, tenant: TenantId, nodeId: NodeId): boolean =>
  someVolume(store, tenant, ({ copies }) =>
    copies.some((copy) => copy.nodeId === nodeId && (copy.role === 'primary' || copy.evacuating !== true)),
  )

function someVolume(
  store: ReadStore,
  tenant: TenantId,
  concerns: (volume: StoredVolume) => boolean,
): boolean {
  return store.keysOf(volumes, tenant).some(({ id }) => {
    const volume = store.get(inTenant(tenant, volumes, id))?.record
    return volume === undefined || concerns(volume)
  })
}

type Placed = Pick<StoredVolume, 'copies' | 'handover'>

/**
 * Makes the commit fail if a node with a new copy, or the node to which a handover begins, has changed, for example if its
 * drain has begun.
 */
export function compareNewNodes(
  transaction: Transaction,
  tenant: TenantId,
  before: Placed | undefined,
  after: Placed,
): void {
  const had = new Set(before?.copies.map(({ nodeId }) => nodeId))
  const added = after.copies.map(({ nodeId }) => nodeId).filter((nodeId) => !had.has(nodeId))
  const target = after.handover?.to
  const begins = target === undefined || target === before?.handover?.to ? [] : [target]
  for (const nodeId of [...added, ...begins]) transaction.get(inTenant(tenant, nodes, nodeId))
}
