// The quotas of a tenant and their use (docs/design/admission.md#quotas). The number of records is limited exactly, by
// slot keys. Bytes are measured by the cache, so concurrent writes may exceed a byte quota slightly.

import { QUOTA_KINDS, type QuotaKind, type QuotaList, type TenantId } from '@holdfast/contract'
import { FILLING } from '@holdfast/core'
import type { Clock } from '../ports/clock.ts'
import { placements, tenants, tokens, VOLUME_USE_ID, volumeUse } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant } from '../store/transaction.ts'
import type { SlotAllocator } from './slots.ts'

export type QuotaDefaults = { readonly [kind in QuotaKind]: number }

export interface Quotas {
  limit(tenant: TenantId, kind: QuotaKind): number
  list(tenant: TenantId): QuotaList
}

/** Quota kinds that are limited by slot keys, one per record. */
const SLOTTED: ReadonlySet<QuotaKind> = new Set([
  'nodes',
  'deployments',
  'volumes',
  'networks',
  'jobs_running',
  'secrets',
  'backups',
])

/**
 * `pressure` is the fill level of etcd, from 0 to 1. Above 0.7 every byte quota shrinks, down to zero at 0.9, so the largest
 * tenants are rejected first. The rest is left for writes that no quota limits: those of deletions, agents and controllers.
 */
export function createQuotas(
  store: Store,
  slots: SlotAllocator,
  defaults: QuotaDefaults,
  pressure: () => number,
  clock: Clock,
): Quotas {
  const limit = (tenant: TenantId, kind: QuotaKind): number => {
    const own = store.get(globally(tenants, tenant))?.record.quotas[kind] ?? defaults[kind]
    return kind === 'stored_bytes' ? Math.floor(own * roomLeft(pressure())) : own
  }
  const used = (tenant: TenantId, kind: QuotaKind): number => {
    if (kind === 'stored_bytes') return store.storedBytes(tenant)
    if (kind === 'containers') return countContainers(store, tenant)
    if (kind === 'tokens') return countTokens(store, tenant, clock.now())
    if (kind === 'volume_bytes')
      return store.get(inTenant(tenant, volumeUse, VOLUME_USE_ID))?.record.bytes ?? 0
    return SLOTTED.has(kind) ? slots.used(tenant, kind) : 0
  }
  return {
    limit,
    list: (tenant) => ({
      items: QUOTA_KINDS.map((kind) => ({ kind, used: used(tenant, kind), limit: limit(tenant, kind) })),
    }),
  }
}

const TIGHT = FILLING
const RESERVED = 0.9

function roomLeft(pressure: number): number {
  return pressure <= TIGHT ? 1 : Math.max(0, (RESERVED - pressure) / (RESERVED - TIGHT))
}

/**
 * Number of a tenant's containers. Like in the scheduler, containers being stopped count until they are confirmed gone.
 */
export function countContainers(store: Pick<Store, 'list'>, tenant: TenantId): number {
  return store.list(placements, tenant).reduce((sum, { record }) => sum + record.assignments.length, 0)
}

/** Number of a tenant's API tokens that have not expired. */
function countTokens(store: Pick<Store, 'list'>, tenant: TenantId, now: number): number {
  return store
    .list(tokens)
    .filter(({ record }) => record.tenant === tenant && Date.parse(record.expiresAt) > now).length
}
