// Changes the claims on volumes in the transaction that stores a placement, so that no container writes without a claim.
// See docs/design/volumes.md#mounts-and-writers

import type { Owner, TenantId } from '@holdfast/contract'
import type { ClaimChanges } from '@holdfast/core/placement'
import { volumes, volumeWriters } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'

/** Names the assignments that write from now on in their claims, and deletes the claims that no container needs. */
export function changeClaims(
  transaction: Transaction,
  tenant: TenantId,
  owner: Owner,
  { compared, written, released }: ClaimChanges,
): void {
  for (const id of compared) transaction.get(inTenant(tenant, volumes, id))
  for (const { volume, id: assignmentId, epoch } of written) {
    const address = inTenant(tenant, volumeWriters, volume)
    const claim = transaction.get(address)
    if (claim?.owner !== owner) throw new Error(`a container would write to ${volume} without a claim`)
    transaction.put(address, { ...claim, assignmentId, epoch })
  }
  for (const volume of released) {
    const address = inTenant(tenant, volumeWriters, volume)
    const claim = transaction.get(address)
    if (claim?.owner === owner && claim.state === 'releasing') transaction.delete(address)
  }
}
