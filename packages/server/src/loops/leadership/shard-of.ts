// The shard of a tenant: hash(tenant) mod 64, equal in every process and permanent. See docs/design/leadership.md#shards

import type { TenantId } from '@holdfast/contract'

export const SHARDS = 64

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** FNV-1a over the characters of the UUID. Asked for every change of every record, so each answer is remembered. */
export function shardOf(tenant: TenantId): number {
  const known = remembered.get(tenant)
  if (known !== undefined) return known
  let hash = FNV_OFFSET
  for (let at = 0; at < tenant.length; at += 1)
    hash = Math.imul(hash ^ tenant.charCodeAt(at), FNV_PRIME) >>> 0
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  remembered.set(tenant, hash % SHARDS)
  return hash % SHARDS
}

const remembered = new Map<TenantId, number>()
const MAX_REMEMBERED = 100_000
