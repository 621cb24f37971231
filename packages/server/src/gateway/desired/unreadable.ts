// Tracks records that exist but cannot be read. While a tenant has an unreadable record, the desired sets of its nodes
// are incomplete and must not be sent as complete sets.

import type { TenantId } from '@holdfast/contract'

export interface Unreadable {
  note(tenant: TenantId, id: string, readable: boolean): void
  has(tenant: TenantId, id: string): boolean
  isComplete(tenant: TenantId): boolean
}

export function createUnreadable(): Unreadable {
  const byTenant = new Map<TenantId, Set<string>>()
  return {
    note(tenant, id, readable) {
      const ids = byTenant.get(tenant) ?? new Set<string>()
      if (readable) ids.delete(id)
      else ids.add(id)
      if (ids.size === 0) byTenant.delete(tenant)
      else byTenant.set(tenant, ids)
    },
    has: (tenant, id) => byTenant.get(tenant)?.has(id) ?? false,
    isComplete: (tenant) => !byTenant.has(tenant),
  }
}
