// The pools of nodes: which one a node may use, when its agent must delete all data of it, and the mark of a pool whose node
// left without that. See docs/design/endings.md#pools-that-change-their-node

import {
  capabilitiesOf,
  isVolumeId,
  MAX_OFFERS,
  OFFERS,
  type PoolWipe,
  type TenantId,
} from '@holdfast/contract'
import { releaseOrder, wipeOrder } from '@holdfast/core'
import { type Clock, timestamp } from '../../ports/clock.ts'
import {
  nodeNames,
  nodes,
  poolMarks,
  pools,
  type StoredNode,
  type StoredPool,
  tenants,
  volumes,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant, type Transaction } from '../../store/transaction.ts'
import { hasVolumeData } from '../volumes/copies-on-node.ts'
import { claimOf } from './claims.ts'

/** The form of a file system's id. Other ids, which a machine could state, are never used as a key. */
const POOL_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The mark of a pool; undefined if it has none. */
export function markOf(read: Pick<Transaction, 'get'>, poolId: string | undefined) {
  return poolId !== undefined && POOL_ID.test(poolId) ? read.get(globally(poolMarks, poolId)) : undefined
}

/** Whether the agent of the node confirms that its pool is empty before the node leaves. */
const confirmsWipe = ({ agent, storage, poolId }: StoredNode): boolean =>
  storage !== undefined && (poolId ?? storage.poolId) !== undefined && capabilitiesOf(agent).includes(OFFERS)

/** Whether no data of volumes is left in the pool of a node that leaves its tenant, as its agent confirmed. */
export function isPoolEmpty(node: StoredNode, pool: StoredPool | undefined): boolean {
  if (!confirmsWipe(node)) return true
  return pool?.wiped === releaseOrder(node) && pool.copies?.length === 0 && pool.quarantined?.length === 0
}

/** The state of the data in the pool of a node that leaves its tenant. */
export const poolAfter = (node: StoredNode, pool: StoredPool | undefined): 'none' | 'wiped' | 'unknown' => {
  if (node.storage === undefined && node.poolId === undefined) return 'none'
  return confirmsWipe(node) && isPoolEmpty(node, pool) ? 'wiped' : 'unknown'
}

type ReadStore = Pick<Store, 'get' | 'list' | 'keysOf'>

/** The order to the agent of a node to delete all data of its pool; undefined if there is none. */
export function orderFor(
  store: ReadStore,
  tenant: TenantId,
  node: StoredNode,
  isUsed: () => boolean,
): PoolWipe | undefined {
  const pool = store.get(inTenant(tenant, pools, node.id))?.record
  if (pool === undefined) return undefined
  const { poolId, foreign, wiped } = pool
  const mark = markOf({ get: (address) => store.get(address)?.record }, poolId)
  return wipeOrder({
    poolId,
    release:
      leaves(store, tenant, node) && !isUsed() && !hasVolumeData(store, tenant, node.id)
        ? releaseOrder(node)
        : undefined,
    mark: mark === undefined || mark.tenant === tenant ? undefined : mark.order,
    foreign,
    isOwned: foreign !== undefined && isOwned(store, foreign, poolId),
    wiped,
  })
}

function leaves(store: ReadStore, tenant: TenantId, { id, name }: StoredNode): boolean {
  const own = claimOf(store.get(globally(nodeNames, name))?.record.claims ?? [], tenant)
  const isReleasing = own?.nodeId === id && own.state === 'releasing'
  return isReleasing || store.get(globally(tenants, tenant))?.record.deleting === true
}

/** Whether a tenant still has a node with the pool. */
function isOwned(store: ReadStore, owner: string, poolId: string | undefined): boolean {
  const tenant = store.list(tenants).find(({ record }) => record.id === owner)?.record.id
  if (tenant === undefined) return false
  return store.list(nodes, tenant).some(({ record }) => (record.poolId ?? record.storage?.poolId) === poolId)
}

/** Marks the pool of a node that leaves without a confirmation that it is empty. Does nothing if the node has none. */
export function markPool(
  store: ReadStore,
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  node: StoredNode,
): void {
  const poolId = node.poolId ?? node.storage?.poolId
  if (poolId === undefined || !POOL_ID.test(poolId)) return
  const before = transaction.get(globally(poolMarks, poolId))
  const earlier = before?.tenant === tenant ? before.volumes : []
  transaction.put(globally(poolMarks, poolId), {
    v: 1,
    tenant,
    nodeName: node.name,
    order: `forced.${node.id}.${node.generation}`,
    volumes: [...new Set([...volumesOn(store, tenant, node), ...earlier])].slice(0, MAX_OFFERS),
    at: timestamp(clock),
  })
}

function volumesOn(store: ReadStore, tenant: TenantId, { id }: StoredNode) {
  const { copies = [], quarantined = [] } = store.get(inTenant(tenant, pools, id))?.record ?? {}
  const recorded = store
    .list(volumes, tenant)
    .filter(({ record }) => [...record.copies, ...(record.leaving ?? [])].some(({ nodeId }) => nodeId === id))
    .map(({ record }) => record.id)
  const reported = [...copies, ...quarantined].map(({ volume }) => volume)
  // A copy that no record knew is no proof that its volume was deleted.
  const known = reported.filter((volume) => isVolumeId(volume) && isRecorded(store, tenant, volume))
  return [...new Set([...recorded, ...known])]
}

const isRecorded = (store: ReadStore, tenant: TenantId, id: string): boolean =>
  store.keysOf(volumes, tenant).some((key) => key.id === id)
