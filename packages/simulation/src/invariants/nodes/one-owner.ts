// Invariant: each shard has one owner. Nothing is placed while the recorded owner is dead, and no two server replicas
// keep believing that they own the same tenant.

import type { TenantId } from '@holdfast/contract'
import { shardOf } from '@holdfast/server/loops/leadership/shard-of'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'

/** Time after a server's death in which the store may still receive writes that the server sent before. */
const ON_ITS_WAY_MS = 10_000
/** Time in which a server replica that was cut off or paused notices the loss of a shard. Until then its writes fail. */
const LEARNS_MS = 60_000

export const oneOwner: Invariant = {
  name: 'one-owner',
  start() {
    const deadSince = new Map<string, number>()
    const sharedSince = new Map<TenantId, number>()
    return function* (moment) {
      for (const { replica, alive } of moment.world.servers)
        if (!alive && !deadSince.has(replica)) deadSince.set(replica, moment.now)
      for (const { tenant, is } of moment.placements.changed) {
        const owner = tenant && moment.shards.is(undefined, String(shardOf(tenant)))?.owner
        const died = owner === undefined ? undefined : deadSince.get(owner)
        if (died !== undefined && moment.now - died > ON_ITS_WAY_MS)
          yield {
            subject: is?.name ?? '',
            message: `was placed while its shard was that of ${owner}, which is dead`,
          }
      }
      yield* believedTwice(moment, sharedSince)
    }
  },
}

function* believedTwice({ world, now }: Moment, sharedSince: Map<TenantId, number>): Generator<Broken> {
  for (const { record } of world.tenants) {
    const owners = world.servers.filter(({ alive, holds }) => alive && holds.includes(record.id))
    if (owners.length < 2) sharedSince.delete(record.id)
    else if (!sharedSince.has(record.id)) sharedSince.set(record.id, now)
    if (now - (sharedSince.get(record.id) ?? now) > LEARNS_MS)
      yield {
        subject: record.name,
        message: `is held by ${owners.map(({ name }) => name).join(' and ')} for a minute`,
      }
  }
}
