// Requires that the storage pool of the node has room for a copy of a volume, or exists at all if the workload mounts a
// volume. Other workloads pass.

import type { PoolFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'

/** The share of a pool that volumes may claim. The rest keeps the file system able to delete and to write metadata. */
const CLAIMABLE = 0.95

export const freePoolBytes = ({ poolBytes, claimedBytes }: PoolFacts): number =>
  Math.floor(poolBytes * CLAIMABLE) - claimedBytes

export const storage: Filter = {
  name: 'storage',
  retryOn: ['node_capacity', 'placements', 'deployment'],
  phrases: {
    storage_pool_missing: 'without a storage pool',
    storage_pool_unusable: 'with an unusable storage pool',
    insufficient_storage: 'with insufficient storage',
  },
  reportsRecordFact: false,
  nodeKey: ({ pool }) => pool && `${pool.poolBytes}/${pool.claimedBytes}/${pool.fault ?? ''}`,
  refuse({ storageBytes, volumes = [] }, { pool }) {
    // A consumer needs the pool that holds its volumes and claims nothing more of it.
    if (volumes.length > 0 && pool === undefined)
      return { code: 'storage_pool_missing', required: { freeBytes: 0 }, reported: null }
    if (pool?.fault !== undefined && (volumes.length > 0 || storageBytes !== undefined))
      return { code: 'storage_pool_unusable', required: { fault: null }, reported: { fault: pool.fault } }
    if (storageBytes === undefined) return undefined
    if (pool === undefined)
      return { code: 'storage_pool_missing', required: { freeBytes: storageBytes }, reported: null }
    const freeBytes = freePoolBytes(pool)
    if (freeBytes >= storageBytes) return undefined
    return {
      code: 'insufficient_storage',
      required: { freeBytes: storageBytes },
      reported: { freeBytes, poolBytes: pool.poolBytes },
    }
  },
}
