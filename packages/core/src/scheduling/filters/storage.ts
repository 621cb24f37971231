// Requires that the storage pool of the node has room for a copy of a volume. A workload that stores nothing passes.

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
    insufficient_storage: 'with insufficient storage',
  },
  reportsRecordFact: false,
  nodeKey: ({ pool }) => pool && `${pool.poolBytes}/${pool.claimedBytes}`,
  refuse({ storageBytes }, { pool }) {
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
