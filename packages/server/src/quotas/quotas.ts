// The quotas of a tenant and their use (docs/design/admission.md#quotas). Records are limited exactly, by slot keys. Bytes are
// measured by the cache, so concurrent writes may exceed the limit slightly.

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

/** Kinds that are limited by slot keys, one per record. */
const SLOTTED: ReadonlySet<QuotaKind> = new Set([
  'nodes',
  'deployments',
  'volumes',
  'networks',
  'jobs_running',
  'secrets',
])

/**
 * `pressure` is how full etcd is, 0 to 1. Above 70 % every byte quota shrinks, down to zero at 100 %. So the largest
 * tenants are rejected first, and etcd never becomes full for all.
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

/** Includes containers that are being stopped, until they are confirmed gone, like the scheduler does. */
function countContainers(store: Pick<Store, 'list'>, tenant: TenantId): number {
  return store.list(placements, tenant).reduce((sum, { record }) => sum + record.assignments.length, 0)
}
