// The quota volume_bytes: one counter per tenant, which every write of a volume compares and writes.

import type { TenantId } from '@holdfast/contract'
import type { QuotaFact } from '@holdfast/core'
import type { Quotas } from '../../quotas/quotas.ts'
import { VOLUME_USE_ID, volumeUse } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'

/** The quota of bytes and the number by which a request raises its use. A request that frees bytes always fits. */
export function bytesQuota(
  { quotas }: { readonly quotas: Quotas },
  transaction: Transaction,
  tenant: TenantId,
  requested: number,
): QuotaFact[] {
  if (requested <= 0) return []
  const kind = 'volume_bytes'
  return [{ kind, used: usedBytes(transaction, tenant), requested, limit: quotas.limit(tenant, kind) }]
}

/** Adds bytes to the counter. It is written even if it stays equal, so that concurrent writes of volumes conflict. */
export function countBytes(transaction: Transaction, tenant: TenantId, by: number): void {
  const address = inTenant(tenant, volumeUse, VOLUME_USE_ID)
  const stored = transaction.get(address) ?? { v: 1, bytes: 0 }
  transaction.put(address, { ...stored, bytes: stored.bytes + by })
}

const usedBytes = (transaction: Transaction, tenant: TenantId): number =>
  transaction.get(inTenant(tenant, volumeUse, VOLUME_USE_ID))?.bytes ?? 0
