// The shard of a tenant: hash(tenant) mod 64. Every process computes the same shard, which never changes. See
// docs/design/leadership.md#shards

import type { TenantId } from '@holdfast/contract'

export const SHARDS = 64

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** The shard by FNV-1a hash of the tenant's UUID. Cached, because this function runs for every change of every record. */
export function shardOf(tenant: TenantId): number {
  const known = cached.get(tenant)
  if (known !== undefined) return known
  let hash = FNV_OFFSET
  for (let at = 0; at < tenant.length; at += 1)
    hash = Math.imul(hash ^ tenant.charCodeAt(at), FNV_PRIME) >>> 0
  if (cached.size >= MAX_CACHED) cached.clear()
  cached.set(tenant, hash % SHARDS)
  return hash % SHARDS
}

const cached = new Map<TenantId, number>()
const MAX_CACHED = 100_000
