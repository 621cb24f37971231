// Which shards does this server replica own? It keeps a heartbeat, acquires free shards and those of stale owners, and
// releases everything when the store contradicts it or its own process stood still. See docs/design/leadership.md#shards

import type { Infer, TenantId } from '@holdfast/contract'
import { timestamp } from '../../ports/clock.ts'
import { serverReplicas, shards } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { globally, type Transaction } from '../../store/transaction.ts'
import { type Repeating, repeat } from '../repeat.ts'
import { createFence } from './fence.ts'
import { createHeartbeatWatch } from './heartbeat-watch.ts'
import {
  giveUp,
  type LeadershipOptions,
  type LeadershipTimings,
  type Leading,
  type ShardChange,
  settleOwnership,
} from './leading.ts'
import { forgetTheSilent, handOver, resign, takeFreeShards } from './move-shards.ts'
import { shardOf } from './shard-of.ts'

export const LEADERSHIP_TIMINGS: LeadershipTimings = {
  heartbeatMs: 3_000,
  silentMs: 12_000,
  lagMs: 4_000,
  lookMs: 500,
}

export interface Leadership {
  owns(tenant: TenantId): boolean
  /** The only way for a controller to write; throws LostLeadershipError where the tenant's shard is not ours. */
  fenced<R>(tenant: TenantId, decide: (transaction: Transaction) => TransactionDecision<R>): Promise<R>
  subscribe(listener: (change: ShardChange) => void): () => void
  /** Gives every shard up for the others to take at once. */
  stop(): Promise<void>
}

export function startLeadership(options: LeadershipOptions): Leadership {
  const timings = options.timings ?? LEADERSHIP_TIMINGS
  const leading: Leading = {
    ...options,
    timings,
    leads: options.leads ?? true,
    fence: createFence(options.store, options.replica, () => giveUp(leading)),
    watch: createHeartbeatWatch(timings.silentMs),
    listeners: new Set(),
    leaving: new Map(),
    mustRefresh: false,
    lastHeartbeat: Number.NEGATIVE_INFINITY,
  }
  const { look, others } = startLoops(leading)
  const unsubscribe = options.store.subscribe((changes) => {
    const shardChanges = changes.filter(({ key }) => key.folder === shards.folder)
    if (shardChanges.length > 0) settleOwnership(leading)
    // A replica that came or went, and a shard that nobody has, are looked at now rather than at the next turn.
    const freed = shardChanges.some(({ kind }) => kind === 'delete')
    if (freed || changes.some(({ key }) => key.folder === serverReplicas.folder)) look.nudge()
  })
  return {
    owns: (tenant) => leading.fence.held.has(shardOf(tenant)),
    fenced: leading.fence.transact,
    subscribe(listener) {
      leading.listeners.add(listener)
      return () => leading.listeners.delete(listener)
    },
    async stop() {
      unsubscribe()
      await Promise.all([look, ...others].map((loop) => loop.stop()))
      giveUp(leading)
      await resign(leading).catch(options.onError)
    },
  }
}

function startLoops(leading: Leading): { look: Repeating; others: Repeating[] } {
  const { timings, onError } = leading
  const look = repeat(timings.lookMs, () => lookAround(leading), onError)
  const startedAt = timestamp(leading.clock)
  const { url, leads, nodeName, brokers } = leading
  const named = nodeName === undefined ? {} : { nodeName }
  const always = { v: 1, url, startedAt, leads, ...named, ...(brokers === true ? { brokers } : {}) }
  let count = 0
  const heartbeat = repeat(
    timings.heartbeatMs,
    async () => {
      count += 1
      await sendHeartbeat(leading, { ...always, heartbeat: count })
    },
    onError,
  )
  heartbeat.nudge()
  return { look, others: [heartbeat, watchStandstill(leading)] }
}

/** A process that stood still cannot know what was decided meanwhile. */
function watchStandstill(leading: Leading): Repeating {
  let last = performance.now()
  return repeat(
    leading.timings.lookMs,
    async () => {
      const now = performance.now()
      const stoodStill = now - last - leading.timings.lookMs
      last = now
      if (stoodStill > leading.timings.lagMs) giveUp(leading)
    },
    leading.onError,
  )
}

async function sendHeartbeat(leading: Leading, record: Infer<typeof serverReplicas.shape>): Promise<void> {
  await leading.store.transact((transaction) => {
    transaction.put(globally(serverReplicas, leading.replica), record)
    return { kind: 'commit', result: undefined }
  })
  const now = performance.now()
  // While our own heartbeat did not come through, nobody else's could have been seen either.
  if (now - leading.lastHeartbeat > leading.timings.silentMs) leading.watch.restart(now)
  leading.lastHeartbeat = now
}

async function lookAround(leading: Leading): Promise<void> {
  const { store, replica, watch, timings } = leading
  if (leading.mustRefresh) await store.fresh()
  leading.mustRefresh = false
  const now = performance.now()
  const heartbeats = store.listWithIds(serverReplicas)
  watch.look(heartbeats, now)
  settleOwnership(leading)
  // Whom nobody hears must not take anything: the others would take it back.
  const heard = heartbeats.some(({ id }) => id === replica)
  if (!leading.leads || !heard || now - leading.lastHeartbeat > timings.silentMs) return
  await takeFreeShards(leading, now)
  await handOver(leading, now)
  await forgetTheSilent(leading, now)
}
