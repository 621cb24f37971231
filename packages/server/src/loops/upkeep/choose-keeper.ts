// Decides which server acts on etcd itself, such as defragmenting its members: the owner of shard 0. While etcd refuses
// writes, no heartbeat and no new owner can be written. The record of the owner then stays as it is; if that owner is gone,
// the other servers take over one after another.

import { serverReplicas } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { shardAddress } from '../leadership/fence.ts'

const TAKEOVER_MS = 60_000

export interface KeeperDeps {
  readonly store: Pick<Store, 'fresh' | 'get' | 'listWithIds'>
  /** The id of this server replica. */
  readonly replica: string
  /** Whether etcd has raised NOSPACE. */
  isFull(): boolean
  now(): number
}

export function createKeeper({ store, replica, isFull, now }: KeeperDeps): () => Promise<boolean> {
  let fullSince: number | undefined
  return async () => {
    fullSince = isFull() ? (fullSince ?? now()) : undefined
    await store.fresh()
    if (store.get(shardAddress(0))?.record.owner === replica) return true
    if (fullSince === undefined) return false
    const rank = store
      .listWithIds(serverReplicas)
      .filter(({ record }) => record.leads)
      .map(({ id }) => id)
      .toSorted()
      .indexOf(replica)
    return rank >= 0 && now() - fullSince >= TAKEOVER_MS * (1 + rank)
  }
}
