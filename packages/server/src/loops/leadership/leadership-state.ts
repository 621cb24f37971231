// The leadership state of this server replica: the shards that it owns, as derived from the records. See
// docs/design/leadership.md#shards

import type { Clock } from '../../ports/clock.ts'
import type { Format } from '../../store/format.ts'
import type { Store } from '../../store/store.ts'
import { type Fence, shardAddress } from './fence.ts'
import type { HeartbeatChain } from './heartbeat-chain.ts'
import type { HeartbeatWatch } from './heartbeat-watch.ts'
import { SHARDS } from './shard-of.ts'

export interface LeadershipTimings {
  readonly heartbeatMs: number
  /** How long a heartbeat may stay unchanged before other server replicas acquire the shards of its sender. */
  readonly silentMs: number
  /** How long the process may be suspended before it releases all its shards. */
  readonly lagMs: number
  /** The interval at which shards and the heartbeats of other server replicas are checked. */
  readonly checkMs: number
}

export interface ShardChange {
  /** The gained shards. A shard that was lost and gained again is included, so its grace periods start again. */
  readonly gained: readonly number[]
  readonly lost: readonly number[]
}

export interface LeadershipOptions {
  readonly store: Store
  readonly clock: Clock
  /** Id of this server replica, unique per process: a restarted server has another id. */
  readonly replica: string
  /** The URL at which other server replicas reach this one. */
  readonly url: string
  /** The control-plane node on which this process runs. The heartbeats of the process also count for that node. */
  readonly nodeName?: string
  /** If false, this server replica acquires no shards; it only sends heartbeats, so that others find it. */
  readonly leads?: boolean
  /** Whether this server replica runs a broker, from which other server replicas may request secrets. */
  readonly brokers?: boolean
  readonly timings?: LeadershipTimings
  /** Recognises by the heartbeats that etcd was restored. Absent in tests and simulations that restore nothing. */
  readonly chain?: HeartbeatChain
  /** Called after this server replica raised the form in which records are written. */
  onFormatRaised?(format: Format): void
  onError(error: unknown): void
}

export interface LeadershipState extends LeadershipOptions {
  readonly leads: boolean
  readonly timings: LeadershipTimings
  readonly fence: Fence
  readonly watch: HeartbeatWatch
  readonly listeners: Set<(change: ShardChange) => void>
  /**
   * Shards that are being handed over, each with its fencing token. A shard is not used while its record still has that
   * token. Another token means that the shard was handed over and acquired again.
   */
  readonly leaving: Map<number, number>
  /** True after all shards were released: the cache may be outdated and must be refreshed before shards are acquired. */
  mustRefresh: boolean
  lastHeartbeat: number
  /** The records of all shards, kept because they are checked often and rarely change; undefined after a change. */
  shardRecords: readonly ShardRecord[] | undefined
}

type ShardRecord = ReturnType<typeof readShard>
const readShard = (store: Pick<Store, 'get'>, shard: number) => store.get(shardAddress(shard))

export function shardRecords(state: Pick<LeadershipState, 'store' | 'shardRecords'>): readonly ShardRecord[] {
  state.shardRecords ??= Array.from({ length: SHARDS }, (_, shard) => readShard(state.store, shard))
  return state.shardRecords
}

/**
 * Updates the owned shards from the records. If another server replica has acquired an owned shard, it considered this
 * process dead. The state may then be outdated, so this process releases all shards and reads the records again.
 */
export function settleOwnership(state: LeadershipState): void {
  if (state.mustRefresh) return
  const { fence, leaving } = state
  const gained = new Map<number, number>()
  let contradicted = false
  for (const [shard, found] of shardRecords(state).entries()) {
    const token = found?.record.owner === state.replica ? found.modRevision : undefined
    const before = fence.held.get(shard)
    if (leaving.size > 0 && token !== leaving.get(shard)) leaving.delete(shard)
    if (before !== undefined && before !== token) contradicted = true
    else if (before === undefined && token !== undefined && !leaving.has(shard)) gained.set(shard, token)
  }
  if (contradicted) releaseAll(state)
  else {
    for (const [shard, token] of gained) fence.held.set(shard, token)
    announceChange(state, { gained: [...gained.keys()], lost: [] })
  }
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
