// How much of each kind a tenant may have, and whether one more fits. DECISIONS 6: records by slot keys, exactly; bytes
// by what the cache counts, so the writes in flight may overshoot.

import { QUOTA_KINDS, type QuotaKind, type QuotaList, type TenantId } from '@holdfast/contract'
import { placements, tenants } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally } from '../store/transaction.ts'
import type { SlotAllocator } from './slots.ts'

export type QuotaDefaults = { readonly [kind in QuotaKind]: number }

export interface Quotas {
  limit(tenant: TenantId, kind: QuotaKind): number
  list(tenant: TenantId): QuotaList
}

/** Kinds that are counted by slot keys, one for each record. */
const SLOTTED: ReadonlySet<QuotaKind> = new Set([
  'nodes',
  'deployments',
  'volumes',
  'networks',
  'jobs_running',
  'secrets',
])

/**
 * `pressure` is how full the engine is, 0 to 1. Past 70 % every byte budget shrinks, to nothing at 100 %: so the largest
 * tenants are refused first, and the engine never reaches the point where it refuses everybody.
 */
export function createQuotas(
  store: Store,
  slots: SlotAllocator,
  defaults: QuotaDefaults,
  pressure: () => number,
): Quotas {
  const limit = (tenant: TenantId, kind: QuotaKind): number => {
    const own = store.get(globally(tenants, tenant))?.record.quotas[kind] ?? defaults[kind]
    return kind === 'stored_bytes' ? Math.floor(own * roomLeft(pressure())) : own
  }
  const used = (tenant: TenantId, kind: QuotaKind): number => {
    if (kind === 'stored_bytes') return store.storedBytes(tenant)
    if (kind === 'containers') return countContainers(store, tenant)
    return SLOTTED.has(kind) ? slots.used(tenant, kind) : 0
  }
  return {
    limit,
    list: (tenant) => ({
      items: QUOTA_KINDS.map((kind) => ({ kind, used: used(tenant, kind), limit: limit(tenant, kind) })),
    }),
  }
}

const TIGHT = 0.7

function roomLeft(pressure: number): number {
  return pressure <= TIGHT ? 1 : Math.max(0, (1 - pressure) / (1 - TIGHT))
}

/** Those on their way out count until they are confirmed gone, as the scheduler counts them. */
function countContainers(store: Pick<Store, 'list'>, tenant: TenantId): number {
  return store.list(placements, tenant).reduce((sum, { record }) => sum + record.assignments.length, 0)
}
