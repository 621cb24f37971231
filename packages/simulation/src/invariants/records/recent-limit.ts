// A tenant's quota as a controller may see it: a limit that was lowered a moment ago may not have reached the cache.

import type { QuotaKind, TenantId } from '@holdfast/contract'
import type { Snapshot } from '../../cluster/snapshot.ts'
import type { Moment } from '../moment.ts'

/** Time for which a controller may still use a replaced quota: longer than the cache lag of any server replica. */
const ON_ITS_WAY_MS = 15_000
const DEFAULTS: { readonly [kind in QuotaKind]?: number } = { nodes: 50, deployments: 200, containers: 500 }

interface Limit {
  readonly limit: number
  /** Time until which a controller may still see this limit; undefined for the current limit. */
  until: number | undefined
}

interface RecentLimits {
  /** Records the current limits. Must be called at every moment of the simulation. */
  note(moment: Moment): void
  /** The highest limit of the tenant that a controller may still see. */
  of(tenant: TenantId, now: number): number
  lowest(tenant: TenantId, now: number): number
}

export function createRecentLimits(kind: QuotaKind): RecentLimits {
  const limits = new Map<TenantId, Limit[]>()
  let seen: Snapshot['tenants'] | undefined
  const recent = (tenant: TenantId, now: number): number[] =>
    (limits.get(tenant) ?? [])
      .filter(({ until }) => until === undefined || until > now)
      .map(({ limit }) => limit)
  return {
    of: (tenant, now) => Math.max(0, ...recent(tenant, now)),
    lowest: (tenant, now) => Math.min(...recent(tenant, now)),
    note({ now, world }) {
      if (seen === world.tenants) return
      seen = world.tenants
      for (const { record } of world.tenants) {
        const limit = record.quotas[kind] ?? DEFAULTS[kind] ?? Number.POSITIVE_INFINITY
        const before = limits.get(record.id) ?? []
        const last = before.at(-1)
        if (last?.limit === limit) continue
        if (last !== undefined) last.until = now + ON_ITS_WAY_MS
        limits.set(record.id, [...before, { limit, until: undefined }])
      }
    },
  }
}
