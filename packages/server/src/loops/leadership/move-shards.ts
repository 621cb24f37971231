// Moves shards between server replicas: free shards are acquired at once, shards of a stale owner if its heartbeat stays
// unchanged, and a server replica with more than its share hands shards over. Each move is one transaction that compares
// the records on which the move was decided.

import { serverReplicas } from '../../store/records.ts'
import { globally } from '../../store/transaction.ts'
import { type HandOver, planHandOver, type ShardOwners } from './balance-shards.ts'
import { shardAddress } from './fence.ts'
import { announceChange, type LeadershipState, releaseAll, shardRecords } from './leadership-state.ts'
import { SHARDS } from './shard-of.ts'

export async function acquireFreeShards(state: LeadershipState, now: number): Promise<void> {
  const owners = ownersNow(state)
  const free = new Set([...new Set(owners)].filter((owner) => isFree(state, owner, now)))
  if (free.size === 0) return
  await Promise.all(owners.flatMap((owner, shard) => (free.has(owner) ? [acquire(state, shard, now)] : [])))
}

const ownersNow = (state: LeadershipState): ShardOwners =>
  shardRecords(state).map((found) => found?.record.owner)

/** A shard is free if it has no owner, if its owner resigned, or if its owner's heartbeat is stale. */
function isFree({ store, replica, watch }: LeadershipState, owner: string | undefined, now: number): boolean {
  if (owner === undefined) return true
  if (owner === replica) return false
  return store.get(globally(serverReplicas, owner)) === undefined || watch.isStale(owner, now)
}

/** Acquires a free shard. The transaction compares the owner's heartbeat, so a new heartbeat makes it fail. */
async function acquire(state: LeadershipState, shard: number, now: number): Promise<void> {
  const { store, replica } = state
  await store.transact<void>((transaction) => {
    const stored = transaction.get(shardAddress(shard))
    const owner = stored?.owner
    if (owner !== undefined) transaction.get(globally(serverReplicas, owner))
    const heartbeats = store.listWithIds(serverReplicas)
    state.watch.observe(heartbeats, performance.now())
    if (!isFree(state, owner, now)) return { kind: 'abort', result: undefined }
    transaction.put(shardAddress(shard), { v: 1, ...stored, owner: replica })
    return { kind: 'commit', result: undefined }
  })
}

export async function handOver(state: LeadershipState, now: number): Promise<void> {
  const { store, replica, fence, watch, leaving } = state
  const leads = (id: string) => store.get(globally(serverReplicas, id))?.record.leads === true
  const planned = planHandOver(ownersNow(state), watch.live(now).filter(leads), replica)
  for (const { shard } of planned) {
    const token = store.get(shardAddress(shard))?.modRevision
    if (token !== undefined) leaving.set(shard, token)
  }
  // The controllers stop work on the planned shards before the transfer, because the fence would abort that work.
  const lost = planned.map(({ shard }) => shard).filter((shard) => fence.held.delete(shard))
  announceChange(state, { gained: [], lost })
  const done = await Promise.allSettled(planned.map((one) => transferShard(state, one)))
  planned.forEach(({ shard }, index) => {
    const outcome = done[index]
    if (outcome?.status === 'fulfilled' && outcome.value) return
    // The transfer was aborted or its outcome is unknown, so the records decide again who owns the shard.
    leaving.delete(shard)
    if (outcome?.status === 'rejected') releaseAll(state)
  })
}

async function transferShard({ store, replica }: LeadershipState, { shard, to }: HandOver): Promise<boolean> {
  return store.transact<boolean>((transaction) => {
    const stored = transaction.get(shardAddress(shard))
    const alive = transaction.get(globally(serverReplicas, to)) !== undefined
    if (stored?.owner !== replica || !alive) return { kind: 'abort', result: false }
    transaction.put(shardAddress(shard), { ...stored, owner: to })
    return { kind: 'commit', result: true }
  })
}

/** Deletes the heartbeat records of stale server replicas that own no shard. */
export async function deleteStaleReplicas(state: LeadershipState, now: number): Promise<void> {
  const { store, watch } = state
  const stale = store.listWithIds(serverReplicas).filter(({ id }) => watch.isStale(id, now))
  if (stale.length === 0) return
  const owners = new Set(ownersNow(state))
  for (const { id, modRevision } of stale.filter(({ id }) => !owners.has(id)))
    await store.transact<void>((transaction) => {
      const address = globally(serverReplicas, id)
      transaction.get(address)
      if (store.get(address)?.modRevision !== modRevision) return { kind: 'abort', result: undefined }
      transaction.delete(address)
      return { kind: 'commit', result: undefined }
    })
}

/** Deletes the own shard records and heartbeat in one transaction, so that other server replicas need not wait. */
export async function resign({ store, replica }: LeadershipState): Promise<void> {
  await store.transact((transaction) => {
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const address = shardAddress(shard)
      if (transaction.get(address)?.owner === replica) transaction.delete(address)
    }
    transaction.delete(globally(serverReplicas, replica))
    return { kind: 'commit', result: undefined }
  })
}
