// Who should hand which shard to whom, so that the shards are spread evenly over the live replicas. Pure, and the same for
// everybody who sees the same: only an owner with more than its share gives, and it gives to those with less.

import { SHARDS } from './shard-of.ts'

export interface HandOver {
  readonly shard: number
  readonly to: string
}

/** What `me` should hand over. `owners` holds the shards that live replicas own. */
export function planHandOver(
  owners: ReadonlyMap<number, string>,
  live: readonly string[],
  me: string,
): HandOver[] {
  const counts = new Map(live.map((id) => [id, 0]))
  for (const owner of owners.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  const spare = (counts.get(me) ?? 0) - shareOf(live, me)
  if (spare <= 0) return []
  const own = [...owners].filter(([, owner]) => owner === me).map(([shard]) => shard)
  const takers = live.flatMap((id) =>
    Array.from<string>({ length: Math.max(0, shareOf(live, id) - (counts.get(id) ?? 0)) }).fill(id),
  )
  const given = own.sort((left, right) => right - left).slice(0, spare)
  return given.flatMap((shard, index) => {
    const to = takers[index]
    return to === undefined ? [] : [{ shard, to }]
  })
}

/** The first ones in order have one more where 64 cannot be divided. */
function shareOf(live: readonly string[], id: string): number {
  const rank = live.indexOf(id)
  if (rank < 0) return 0
  return Math.floor(SHARDS / live.length) + (rank < SHARDS % live.length ? 1 : 0)
}
