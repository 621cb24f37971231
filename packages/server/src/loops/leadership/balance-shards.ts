// Plans which shards a server replica hands over, so that the shards are spread evenly over the live server replicas. A
// pure function: server replicas with the same view make the same plan. Only an owner with more than its share hands over
// shards, and only to server replicas with less than theirs.

import { SHARDS } from './shard-of.ts'

export interface HandOver {
  readonly shard: number
  readonly to: string
}

/** The shards that server replica `me` should hand over, with their receivers. `owners`: the owner of each shard. */
export function planHandOver(
  owners: ReadonlyMap<number, string>,
  live: readonly string[],
  me: string,
): HandOver[] {
  const counts = new Map(live.map((id) => [id, 0]))
  for (const owner of owners.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  const surplus = (counts.get(me) ?? 0) - shareOf(live, me)
  if (surplus <= 0) return []
  const own = [...owners].filter(([, owner]) => owner === me).map(([shard]) => shard)
  const receivers = live.flatMap((id) =>
    Array.from<string>({ length: Math.max(0, shareOf(live, id) - (counts.get(id) ?? 0)) }).fill(id),
  )
  const handedOver = own.sort((left, right) => right - left).slice(0, surplus)
  return handedOver.flatMap((shard, index) => {
    const to = receivers[index]
    return to === undefined ? [] : [{ shard, to }]
  })
}

/** The fair number of shards for one server replica. If 64 is not divisible, the first server replicas get one more. */
function shareOf(live: readonly string[], id: string): number {
  const rank = live.indexOf(id)
  if (rank < 0) return 0
  return Math.floor(SHARDS / live.length) + (rank < SHARDS % live.length ? 1 : 0)
}
