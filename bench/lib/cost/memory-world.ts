// The in-memory store as the engine of the measured code, and a way back to a store without deployments.

import { prefixRange } from '@holdfast/server/store/keys'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'

export { connectMemory, createMemoryKeyspace, type MemoryKeyspace }

/** Deletes all records of a tenant except its nodes. */
export function clearTenant(keyspace: MemoryKeyspace, tenant: string): void {
  const [all, kept] = [prefixRange(`/hf/t/${tenant}/`), prefixRange(`/hf/t/${tenant}/node/`)]
  const success = [
    { kind: 'delete' as const, key: all.key, rangeEnd: kept.key },
    { kind: 'delete' as const, key: kept.rangeEnd ?? '', rangeEnd: all.rangeEnd ?? '' },
  ]
  keyspace.transact({ compares: [], success, failure: [] })
}
