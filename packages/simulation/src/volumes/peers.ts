// The network between simulated agents, and the side of a replica: it answers which checkpoints it has and stores those of
// its primary, judged as the real agent judges them.

import type { NodeId, Peer, VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import {
  type IncomingRefusal,
  includesCheckpoint,
  judgeIncoming,
  newestFirst,
  refuseSender,
} from '@holdfast/core/node'
import type { CopyKeeper } from './keep-copies.ts'
import { dropCheckpoints, type Pool, receiveCheckpoint, type StoredCheckpoint } from './pool.ts'
import type { PromiseKeeper } from './promises/keep-promises.ts'

export interface Offered {
  readonly volume: VolumeId
  readonly epoch: number
}

export type HeldOrRefused =
  | { readonly held: readonly VolumeCheckpoint[] }
  | { readonly refusal: IncomingRefusal }

/** An agent as its peers reach it. */
export interface PeerSide {
  confirm(from: NodeId, offered: Offered): HeldOrRefused
  /** Whether a checkpoint would be stored, or is held already. */
  agree(from: NodeId, volume: VolumeId, sent: StoredCheckpoint, base: VolumeCheckpoint | undefined): Agreed
  store(from: NodeId, volume: VolumeId, sent: StoredCheckpoint, base: VolumeCheckpoint | undefined): Agreed
}

export type Agreed = 'accept' | 'held' | 'refuse'

/** Finds the agent of a peer, if this machine reaches it now and both know each other's keys. */
export type ReachPeer = (peer: Peer) => PeerSide | undefined

interface PeerSideDeps {
  readonly promises: Pick<PromiseKeeper, 'mayStore'>
  readonly pool: Pool
  readonly keeper: Pick<CopyKeeper, 'desired' | 'check'>
  onTouched(): void
}

export function createPeerSide({ pool, keeper, promises, onTouched }: PeerSideDeps): PeerSide {
  const heldOf = (volume: VolumeId): VolumeCheckpoint[] =>
    newestFirst(pool.volumes.get(volume)?.checkpoints ?? []).map(({ epoch, number }) => ({ epoch, number }))
  const agree: PeerSide['agree'] = (from, volume, { epoch, number }, base) => {
    if (!promises.mayStore(volume, { epoch, number })) return 'refuse'
    const offer = { from, epoch, number, ...(base && { base }) }
    return judgeIncoming(offer, keeper.desired.get(volume), heldOf(volume)).kind
  }
  return {
    confirm(from, { volume, epoch }) {
      const held = heldOf(volume)
      const refusal = refuseSender({ from, epoch }, keeper.desired.get(volume), held)
      return refusal === undefined ? { held } : { refusal }
    },
    agree,
    store(from, volume, sent, base) {
      const verdict = agree(from, volume, sent, base)
      if (verdict !== 'accept') return verdict
      const before = heldOf(volume)
      receiveCheckpoint(pool, volume, sent)
      const kept = base === undefined ? [sent] : [sent, base]
      dropCheckpoints(
        pool,
        volume,
        before.filter((old) => !includesCheckpoint(kept, old)),
      )
      onTouched()
      keeper.check()
      return verdict
    },
  }
}
