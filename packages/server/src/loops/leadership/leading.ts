// What a replica knows of the shards it works for, and how that follows from the records.

import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../store/store.ts'
import { type Fence, shardAddress } from './fence.ts'
import type { HeartbeatWatch } from './heartbeat-watch.ts'
import { SHARDS } from './shard-of.ts'

export interface LeadershipTimings {
  readonly heartbeatMs: number
  /** How long a heartbeat may stay the same before its shards are taken. */
  readonly silentMs: number
  /** How long the process may stand still before it gives everything up. */
  readonly lagMs: number
  /** How often the others' heartbeats are looked at. */
  readonly lookMs: number
}

export interface ShardChange {
  /** Grace timers of these begin anew, also where we had them before. */
  readonly gained: readonly number[]
  readonly lost: readonly number[]
}

export interface LeadershipOptions {
  readonly store: Store
  readonly clock: Clock
  /** Of this process alone: a restarted server is another replica. */
  readonly replica: string
  /** Where the other replicas reach this one. */
  readonly url: string
  /** The control-plane node that this process runs on: its heartbeat is that node's. */
  readonly nodeName?: string
  /** False: the heartbeat alone, so that others find this replica; it takes no shards. */
  readonly leads?: boolean
  /** Whether others may ask it for what only brokers read. */
  readonly brokers?: boolean
  readonly timings?: LeadershipTimings
  onError(error: unknown): void
}

export interface Leading extends LeadershipOptions {
  readonly leads: boolean
  readonly timings: LeadershipTimings
  readonly fence: Fence
  readonly watch: HeartbeatWatch
  readonly listeners: Set<(change: ShardChange) => void>
  /**
   * On their way to somebody else, each with the token that it was ours with: not ours any more, as long as the records still
   * say that one. Another token says that it went and has come back, also where both were heard of at once.
   */
  readonly leaving: Map<number, number>
  /** Set when what the cache shows may be older than what made us give up. */
  mustRefresh: boolean
  lastHeartbeat: number
}

/**
 * Brings what we hold in line with what the records say. A shard that was taken from us means that the others held us for
 * dead: then nothing that we believe is worth anything, and everything is given up and read anew.
 */
export function settleOwnership(leading: Leading): void {
  if (leading.mustRefresh) return
  const { fence, leaving } = leading
  const gained = new Map<number, number>()
  let contradicted = false
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const token = tokenOf(leading, shard)
    const before = fence.held.get(shard)
    if (token !== leaving.get(shard)) leaving.delete(shard)
    if (before !== undefined && before !== token) contradicted = true
    else if (before === undefined && token !== undefined && !leaving.has(shard)) gained.set(shard, token)
  }
  if (contradicted) giveUp(leading)
  else {
    for (const [shard, token] of gained) fence.held.set(shard, token)
    announceChange(leading, { gained: [...gained.keys()], lost: [] })
  }
}

function tokenOf({ store, replica }: Leading, shard: number): number | undefined {
  const found = store.get(shardAddress(shard))
  return found?.record.owner === replica ? found.modRevision : undefined
}

export function giveUp(leading: Leading): void {
  const lost = [...leading.fence.held.keys()]
  leading.fence.held.clear()
  leading.mustRefresh = true
  leading.watch.restart(performance.now())
  announceChange(leading, { gained: [], lost })
}

export function announceChange({ listeners }: Leading, change: ShardChange): void {
  if (change.gained.length === 0 && change.lost.length === 0) return
  for (const listener of listeners) listener(change)
}
