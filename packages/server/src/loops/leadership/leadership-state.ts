// The leadership state of this replica: the shards it owns, as derived from the records. See
// docs/design/leadership.md#shards

import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../store/store.ts'
import { type Fence, shardAddress } from './fence.ts'
import type { HeartbeatWatch } from './heartbeat-watch.ts'
import { SHARDS } from './shard-of.ts'

export interface LeadershipTimings {
  readonly heartbeatMs: number
  /** How long a heartbeat may stay unchanged before the replica is stale and its shards are acquired by others. */
  readonly silentMs: number
  /** How long the process may be suspended before it releases all its shards. */
  readonly lagMs: number
  /** The interval at which shards and the heartbeats of other replicas are checked. */
  readonly checkMs: number
}

export interface ShardChange {
  /** Also contains shards that were lost and gained again; their grace periods restart. */
  readonly gained: readonly number[]
  readonly lost: readonly number[]
}

export interface LeadershipOptions {
  readonly store: Store
  readonly clock: Clock
  /** Unique per process: a restarted server is another replica. */
  readonly replica: string
  /** The URL at which other replicas reach this one. */
  readonly url: string
  /** The control-plane node on which this process runs; the process's heartbeat is also that node's. */
  readonly nodeName?: string
  /** False: send heartbeats only, so that other replicas find this one, and acquire no shards. */
  readonly leads?: boolean
  /** Whether other replicas may request secrets from this one, because it runs a broker. */
  readonly brokers?: boolean
  readonly timings?: LeadershipTimings
  onError(error: unknown): void
}

export interface LeadershipState extends LeadershipOptions {
  readonly leads: boolean
  readonly timings: LeadershipTimings
  readonly fence: Fence
  readonly watch: HeartbeatWatch
  readonly listeners: Set<(change: ShardChange) => void>
  /**
   * Shards that are being handed over, each with its token. They are no longer used while the record still has that token;
   * another token means that the shard was handed over and came back.
   */
  readonly leaving: Map<number, number>
  /** Set when the cache may be older than the event that caused all shards to be released. */
  mustRefresh: boolean
  lastHeartbeat: number
}

/**
 * Updates the owned shards from the records. If another replica acquired one of them, it considered this one dead, so
 * everything this replica knows may be outdated: it releases all shards and reads the records again.
 */
export function settleOwnership(state: LeadershipState): void {
  if (state.mustRefresh) return
  const { fence, leaving } = state
  const gained = new Map<number, number>()
  let contradicted = false
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const token = tokenOf(state, shard)
    const before = fence.held.get(shard)
    if (token !== leaving.get(shard)) leaving.delete(shard)
    if (before !== undefined && before !== token) contradicted = true
    else if (before === undefined && token !== undefined && !leaving.has(shard)) gained.set(shard, token)
  }
  if (contradicted) releaseAll(state)
  else {
    for (const [shard, token] of gained) fence.held.set(shard, token)
    announceChange(state, { gained: [...gained.keys()], lost: [] })
  }
}

function tokenOf({ store, replica }: LeadershipState, shard: number): number | undefined {
  const found = store.get(shardAddress(shard))
  return found?.record.owner === replica ? found.modRevision : undefined
}

export function releaseAll(state: LeadershipState): void {
  const lost = [...state.fence.held.keys()]
  state.fence.held.clear()
  state.mustRefresh = true
  state.watch.restart(performance.now())
  announceChange(state, { gained: [], lost })
}

export function announceChange({ listeners }: LeadershipState, change: ShardChange): void {
  if (change.gained.length === 0 && change.lost.length === 0) return
  for (const listener of listeners) listener(change)
}
