// Plans which shards a server replica hands over, so that the shards are spread evenly over the live server replicas. A
// pure function: server replicas with the same view make the same plan. Only an owner with more than its share hands over
// shards, and only to server replicas with less than theirs.

import { SHARDS } from './shard-of.ts'

export interface HandOver {
  readonly shard: number
  readonly to: string
}

/** The owner of each shard, by the shard's number; undefined for a shard without an owner. */
export type ShardOwners = readonly (string | undefined)[]

/** The shards that server replica `me` should hand over, with their receivers. */
export function planHandOver(owners: ShardOwners, live: readonly string[], me: string): HandOver[] {
  const own = shardsOf(owners, me)
  const surplus = own.length - shareOf(live, me)
  if (surplus <= 0) return []
  const receivers = live.flatMap((id) =>
    Array.from<string>({ length: Math.max(0, shareOf(live, id) - shardsOf(owners, id).length) }).fill(id),
  )
  const handedOver = own.reverse().slice(0, surplus)
  return handedOver.flatMap((shard, index) => {
    const to = receivers[index]
    return to === undefined ? [] : [{ shard, to }]
  })
}

function shardsOf(owners: ShardOwners, id: string): number[] {
  const own: number[] = []
  for (let shard = 0; shard < owners.length; shard += 1) if (owners[shard] === id) own.push(shard)
  return own
}

/** The fair number of shards for one server replica. If 64 is not divisible, the first server replicas get one more. */
function shareOf(live: readonly string[], id: string): number {
  const rank = live.indexOf(id)
  if (rank < 0) return 0
  return Math.floor(SHARDS / live.length) + (rank < SHARDS % live.length ? 1 : 0)
}
