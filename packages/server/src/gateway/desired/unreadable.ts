// Records that are there and cannot be read. As long as a tenant has one, what is known of it is not all there is,
// and what could not be seen must not look as if it were not there.

import type { TenantId } from '@holdfast/contract'

export interface Unreadable {
  note(tenant: TenantId, id: string, readable: boolean): void
  has(tenant: TenantId, id: string): boolean
  isWhole(tenant: TenantId): boolean
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
    isWhole: (tenant) => !byTenant.has(tenant),
  }
}
