// How shards change hands: free ones are taken at once, those of a silent owner by comparing its heartbeat, and
// whoever has more than its share hands some over. Each move is one transaction that compares what it was decided on.

import { serverReplicas, shards } from '../../store/records.ts'
import { globally } from '../../store/transaction.ts'
import { shardAddress } from './fence.ts'
import { announceChange, giveUp, type Leading } from './leading.ts'
import { SHARDS } from './shard-of.ts'
import { type HandOver, planHandOver } from './share-out.ts'

export async function takeFreeShards(leading: Leading, now: number): Promise<void> {
  const taken: Promise<void>[] = []
  for (let shard = 0; shard < SHARDS; shard += 1)
    if (isFree(leading, leading.store.get(shardAddress(shard))?.record.owner, now))
      taken.push(take(leading, shard, now))
  await Promise.all(taken)
}

/** Nobody's, of a replica that said goodbye, or of one that is silent. */
function isFree({ store, replica, watch }: Leading, owner: string | undefined, now: number): boolean {
  if (owner === undefined) return true
  if (owner === replica) return false
  return store.get(globally(serverReplicas, owner)) === undefined || watch.isSilent(owner, now)
}

/** Both the shard and its owner's heartbeat are read, and so compared: one heartbeat more, and nothing is taken. */
async function take(leading: Leading, shard: number, now: number): Promise<void> {
  const { store, replica } = leading
  await store.transact<void>((transaction) => {
    const owner = transaction.get(shardAddress(shard))?.owner
    if (owner !== undefined) transaction.get(globally(serverReplicas, owner))
    const heartbeats = store.listWithIds(serverReplicas)
    leading.watch.look(heartbeats, performance.now())
    if (!isFree(leading, owner, now)) return { kind: 'abort', result: undefined }
    transaction.put(shardAddress(shard), { v: 1, owner: replica })
    return { kind: 'commit', result: undefined }
  })
}

export async function handOver(leading: Leading, now: number): Promise<void> {
  const { store, replica, fence, watch, leaving } = leading
  const owners = new Map<number, string>()
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const owner = store.get(shardAddress(shard))?.record.owner
    if (owner !== undefined) owners.set(shard, owner)
  }
  const leads = (id: string) => store.get(globally(serverReplicas, id))?.record.leads === true
  const given = planHandOver(owners, watch.live(now).filter(leads), replica)
  for (const { shard } of given) {
    const token = store.get(shardAddress(shard))?.modRevision
    if (token !== undefined) leaving.set(shard, token)
  }
  // Told before it is done: what begins now would be refused by the fence.
  const lost = given.map(({ shard }) => shard).filter((shard) => fence.held.delete(shard))
  announceChange(leading, { gained: [], lost })
  const done = await Promise.allSettled(given.map((one) => giveShard(leading, one)))
  given.forEach(({ shard }, index) => {
    const outcome = done[index]
    if (outcome?.status === 'fulfilled' && outcome.value) return
    // Not given after all, or nobody knows: what the records say is read anew.
    leaving.delete(shard)
    if (outcome?.status === 'rejected') giveUp(leading)
  })
}

async function giveShard({ store, replica }: Leading, { shard, to }: HandOver): Promise<boolean> {
  return store.transact<boolean>((transaction) => {
    const ours = transaction.get(shardAddress(shard))?.owner === replica
    const alive = transaction.get(globally(serverReplicas, to)) !== undefined
    if (!ours || !alive) return { kind: 'abort', result: false }
    transaction.put(shardAddress(shard), { v: 1, owner: to })
    return { kind: 'commit', result: true }
  })
}

/** The key of a replica that is gone for good, once nothing is its own any more. */
export async function forgetTheSilent(leading: Leading, now: number): Promise<void> {
  const { store, watch } = leading
  const owners = new Set(store.list(shards).map(({ record }) => record.owner))
  const silent = store.listWithIds(serverReplicas).filter(({ id }) => watch.isSilent(id, now))
  for (const { id, modRevision } of silent.filter(({ id }) => !owners.has(id)))
    await store.transact<void>((transaction) => {
      const address = globally(serverReplicas, id)
      transaction.get(address)
      if (store.get(address)?.modRevision !== modRevision) return { kind: 'abort', result: undefined }
      transaction.delete(address)
      return { kind: 'commit', result: undefined }
    })
}

/** Shards and heartbeat go together, so that nobody waits for a silence. */
export async function resign({ store, replica }: Leading): Promise<void> {
  await store.transact((transaction) => {
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const address = shardAddress(shard)
      if (transaction.get(address)?.owner === replica) transaction.delete(address)
    }
    transaction.delete(globally(serverReplicas, replica))
    return { kind: 'commit', result: undefined }
  })
}
