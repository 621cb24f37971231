// The workloads that keep a volume from being deleted: those that mount it, and the last writer until its container is
// confirmed gone.

import type { TenantId, VolumeId } from '@holdfast/contract'
import { VOLUME_USE_ID, volumeUse, volumeWriters } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'

/**
 * The names of the workloads. The claim of the writer and the counter that every new reader writes are compared at commit,
 * so a mount that is stored at the same moment keeps the volume.
 */
export function usersOf(
  transaction: Transaction,
  tenant: TenantId,
  id: VolumeId,
  consumers: readonly string[],
): string[] {
  transaction.get(inTenant(tenant, volumeUse, VOLUME_USE_ID))
  const writer = transaction.get(inTenant(tenant, volumeWriters, id))?.name
  return [...new Set(writer === undefined ? consumers : [...consumers, writer])].sort()
}
