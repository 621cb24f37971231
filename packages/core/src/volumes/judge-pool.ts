// Judges the pool that a node states: whether it is the node's pool, and whether its data must be deleted first.
// See docs/design/endings.md#pools-that-change-their-node

import type { Node, PoolWipe } from '@holdfast/contract'

type Storage = NonNullable<Node['storage']>

export interface PoolSituation {
  /** The pool that the node had before; undefined if it had none. */
  readonly known: string | undefined
  /** The pool as the agent states it; undefined if the node has none. */
  readonly stated: Storage | undefined
  /** Whether a node with this pool was removed by force from another tenant, and the data was not deleted since. */
  readonly isMarked: boolean
}

export interface JudgedPool {
  /** The pool that the node has from now on. */
  readonly poolId: string | undefined
  /** The pool as the node record has it. One that must not be used has a fault and no bytes. */
  readonly storage: Storage | undefined
  /** Why the node is degraded; undefined if it is not. */
  readonly degraded: 'pool_changed' | undefined
}

export function judgePool({ known, stated, isMarked }: PoolSituation): JudgedPool {
  if (stated === undefined) return { poolId: known, storage: undefined, degraded: undefined }
  const { poolId } = stated
  const isChanged =
    stated.fault === 'pool_changed' || (known !== undefined && poolId !== undefined && poolId !== known)
  if (isChanged) return { poolId: known, storage: unusable(stated, 'pool_changed'), degraded: 'pool_changed' }
  const storage = isMarked && stated.fault === undefined ? unusable(stated, 'pool_foreign') : stated
  return { poolId: poolId ?? known, storage, degraded: undefined }
}

const unusable = (stated: Storage, fault: string): Storage => ({
  ...stated,
  poolBytes: 0,
  usedBytes: 0,
  fault,
})

export interface WipeSituation {
  readonly poolId: string | undefined
  /** The order of the node's release, once no container and no copy of a volume is left there; undefined before. */
  readonly release: string | undefined
  /** The order of another tenant's node with this pool that was removed by force; undefined without one. */
  readonly mark: string | undefined
  /** The tenant of the data in the pool, if the agent found another one. */
  readonly foreign: string | undefined
  /** Whether that tenant still has a node with the pool, so that the data may be needed. */
  readonly isOwned: boolean
  /** The order that the agent has confirmed. */
  readonly wiped: string | undefined
}

/** The order to delete all data of the pool; undefined if there is none or the agent has confirmed it. */
export function wipeOrder(situation: WipeSituation): PoolWipe | undefined {
  const { poolId, release, mark, foreign, isOwned, wiped } = situation
  if (poolId === undefined) return undefined
  const ofOther = foreign === undefined || isOwned ? undefined : `foreign.${foreign}`
  const reason = release === undefined ? 'foreign' : 'released'
  const id = release ?? mark ?? ofOther
  return id === undefined || id === wiped ? undefined : { poolId, id, reason }
}

/** The order by which a node that leaves its tenant deletes all data. */
export const releaseOrder = ({
  id,
  generation,
}: {
  readonly id: string
  readonly generation: number
}): string => `release.${id}.${generation}`
