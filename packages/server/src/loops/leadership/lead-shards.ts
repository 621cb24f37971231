// Maintains the shards of this server replica: it sends heartbeats, acquires free shards and shards of stale owners, and
// releases all shards if the store contradicts its ownership or the process was suspended. See
// docs/design/leadership.md#shards

import { defined, type Infer, type TenantId, VERSION } from '@holdfast/contract'
import { timestamp } from '../../ports/clock.ts'
import { joinFormat } from '../../store/format.ts'
import { newestForm } from '../../store/records/collection.ts'
import { serverReplicas, shards } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { globally, type Transaction } from '../../store/transaction.ts'
import { type Repeating, repeat } from '../repeat.ts'
import { createFence } from './fence.ts'
import { createHeartbeatWatch } from './heartbeat-watch.ts'
import {
  type LeadershipOptions,
  type LeadershipState,
  type LeadershipTimings,
  releaseAll,
  type ShardChange,
  settleOwnership,
} from './leadership-state.ts'
import { acquireFreeShards, deleteStaleReplicas, handOver, resign } from './move-shards.ts'
import { raiseFormat } from './raise-format.ts'
import { shardOf } from './shard-of.ts'

export const LEADERSHIP_TIMINGS: LeadershipTimings = {
  heartbeatMs: 3_000,
  silentMs: 12_000,
  lagMs: 4_000,
  checkMs: 500,
}

export interface Leadership {
  owns(tenant: TenantId): boolean
  /** Runs a controller's transaction. Throws LostLeadershipError if another process owns the tenant's shard. */
  fenced<R>(tenant: TenantId, decide: (transaction: Transaction) => TransactionDecision<R>): Promise<R>
  subscribe(listener: (change: ShardChange) => void): () => void
  /** Releases every shard, so that other server replicas can acquire them at once. */
  stop(): Promise<void>
}

export function startLeadership(options: LeadershipOptions): Leadership {
  const timings = options.timings ?? LEADERSHIP_TIMINGS
  const state: LeadershipState = {
    ...options,
    timings,
    leads: options.leads ?? true,
    fence: createFence(options.store, options.replica, () => releaseAll(state)),
    watch: createHeartbeatWatch(timings.silentMs),
    listeners: new Set(),
    leaving: new Map(),
    mustRefresh: false,
    lastHeartbeat: Number.NEGATIVE_INFINITY,
    shardRecords: undefined,
  }
  const { reconcile, others } = startLoops(state)
  const unsubscribe = options.store.subscribe((changes) => {
    const shardChanges = changes.filter(({ key }) => key.folder === shards.folder)
    if (shardChanges.length > 0) {
      state.shardRecords = undefined
      settleOwnership(state)
    }
    // Started and stopped server replicas and free shards are handled at once, not at the next interval.
    const freed = shardChanges.some(({ kind }) => kind === 'delete')
    if (freed || changes.some(({ key }) => key.folder === serverReplicas.folder)) reconcile.nudge()
  })
  return {
    owns: (tenant) => state.fence.held.has(shardOf(tenant)),
    fenced: state.fence.transact,
    subscribe(listener) {
      state.listeners.add(listener)
      return () => state.listeners.delete(listener)
    },
    async stop() {
      unsubscribe()
      await Promise.all([reconcile, ...others].map((loop) => loop.stop()))
      releaseAll(state)
      await resign(state).catch(options.onError)
    },
  }
}

function startLoops(state: LeadershipState): { reconcile: Repeating; others: Repeating[] } {
  const { timings, onError } = state
  const reconcile = repeat(timings.checkMs, () => reconcileShards(state), onError)
  const startedAt = timestamp(state.clock)
  const { url, leads, nodeName, brokers } = state
  const always = {
    v: 1,
    url,
    startedAt,
    leads,
    version: VERSION,
    reads: newestForm(state.store.forms),
    ...defined({ nodeName, brokers: brokers === true ? brokers : undefined }),
  }
  let count = 0
  const heartbeat = repeat(
    timings.heartbeatMs,
    async () => {
      count += 1
      await sendHeartbeat(state, { ...always, heartbeat: count })
    },
    onError,
  )
  heartbeat.nudge()
  return { reconcile, others: [heartbeat, watchSuspension(state)] }
}

/** Releases all shards after this process was suspended, because other processes may have acquired them by then. */
function watchSuspension(state: LeadershipState): Repeating {
  let last = performance.now()
  return repeat(
    state.timings.checkMs,
    async () => {
      const now = performance.now()
      const suspendedMs = now - last - state.timings.checkMs
      last = now
      if (suspendedMs > state.timings.lagMs) releaseAll(state)
    },
    state.onError,
  )
}

async function sendHeartbeat(
  state: LeadershipState,
  record: Infer<typeof serverReplicas.shape>,
): Promise<void> {
  const { store, replica, chain } = state
  const address = globally(serverReplicas, replica)
  const outcome = await store
    .transact<'written' | 'form unreadable' | 'chain broken'>((transaction) => {
      // A server replica that another one removed as stale registers again. The commit compares this read: a cache that has not
      // seen the removal yet must not register without the format.
      const isRegistered = transaction.get(address) !== undefined
      if (!isRegistered && !joinFormat(transaction, store.forms))
        return { kind: 'abort', result: 'form unreadable' }
      if (chain?.link(transaction) === false) return { kind: 'abort', result: 'chain broken' }
      transaction.put(address, record)
      return { kind: 'commit', result: 'written' }
    })
    .catch(async (error: unknown) => {
      await chain?.verify()
      throw error
    })
  if (outcome === 'chain broken') return chain?.verify()
  if (outcome === 'written') chain?.committed()
  const now = performance.now()
  // After a gap in its own heartbeats this process may have missed other heartbeats, so all heartbeat timers restart.
  if (now - state.lastHeartbeat > state.timings.silentMs) state.watch.restart(now)
  state.lastHeartbeat = now
}

async function reconcileShards(state: LeadershipState): Promise<void> {
  const { store, replica, watch, timings, fence } = state
  // Other server replicas acquire the shards of one that wrote no heartbeat for this time, and it may not see that.
  const isSilent = performance.now() - state.lastHeartbeat > timings.silentMs
  if (isSilent && fence.held.size > 0) releaseAll(state)
  if (state.mustRefresh) await store.fresh()
  state.mustRefresh = false
  const now = performance.now()
  const heartbeats = store.listWithIds(serverReplicas)
  watch.observe(heartbeats, now)
  settleOwnership(state)
  // A server replica without a visible heartbeat must not acquire shards, because other server replicas consider it dead.
  const isVisible = heartbeats.some(({ id }) => id === replica)
  if (!isVisible || now - state.lastHeartbeat > timings.silentMs) return
  await raiseFormat(state)
  if (!state.leads) return
  await acquireFreeShards(state, now)
  await handOver(state, now)
  await deleteStaleReplicas(state, now)
}
