// GET /platform: the state of the control plane itself: servers, shards, stores and the mass-failure hold.

import type { Platform } from '@holdfast/contract'
import { SHARDS } from '../../loops/leadership/shard-of.ts'
import type { StorePressure } from '../../loops/store-pressure.ts'
import { type Clock, timestamp } from '../../ports/clock.ts'
import type { SecretsStoreHealth } from '../../ports/secrets-store.ts'
import { serverReplicas, shards } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { done, type Outcome } from '../caller.ts'

export interface PlatformDeps {
  readonly store: Pick<Store, 'fresh' | 'listWithIds'>
  readonly clock: Clock
  /** The id of this server replica. */
  readonly replica: string
  readonly secrets: SecretsStoreHealth
  readonly pressure: Omit<StorePressure, 'measure'>
  readonly hold: HoldTimes
  /** Whether the heartbeat of a server replica has changed recently. */
  isAlive(replica: string): boolean
}

/** The mass-failure hold as this server sees it. */
export interface HoldTimes {
  readonly since: number | undefined
  /** Number of silent nodes that would be declared failed without the hold. */
  readonly nodes: number
}

export async function readPlatform(deps: PlatformDeps): Promise<Outcome<Platform>> {
  const { store, clock, replica, secrets, pressure, hold } = deps
  await store.fresh()
  const health = await secrets.health()
  const servers = store.listWithIds(serverReplicas)
  const owners = new Map(store.listWithIds(shards).map(({ id, record }) => [Number(id), record.owner]))
  const alive = new Set(servers.filter(({ id }) => deps.isAlive(id)).map(({ id }) => id))
  const shardsOf = (id: string): number => [...owners.values()].filter((owner) => owner === id).length
  return done({
    at: timestamp(clock),
    answeredBy: replica,
    servers: servers
      .map(({ id, record: { version, startedAt, leads, nodeName } }) => ({
        ...{ id, startedAt, leads, alive: alive.has(id), shards: shardsOf(id), node: nodeName ?? null },
        ...(version === undefined ? {} : { version }),
      }))
      .toSorted((left, right) => (left.id < right.id ? -1 : 1)),
    shards: { total: SHARDS, unowned: unownedShards(owners, alive) },
    // The cache was brought up to date above, which needs the store.
    store: {
      state: 'connected',
      usedPercent: pressure.size === undefined ? null : Math.round(pressure.ratio * 100),
      fileBytes: pressure.size?.fileBytes ?? null,
      inUseBytes: pressure.size?.inUseBytes ?? null,
      quotaBytes: pressure.quotaBytes,
      alarms: [...(pressure.alarms ?? [])],
    },
    secretsStore: { state: health.kind === 'ok' ? 'connected' : 'disconnected' },
    massFailureHold: {
      active: hold.since !== undefined,
      since: hold.since === undefined ? null : new Date(hold.since).toISOString(),
      nodes: hold.nodes,
    },
  })
}

function unownedShards(owners: ReadonlyMap<number, string>, alive: ReadonlySet<string>): number[] {
  return Array.from({ length: SHARDS }, (_, shard) => shard).filter(
    (shard) => !alive.has(owners.get(shard) ?? ''),
  )
}
