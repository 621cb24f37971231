// The part of a backup that a deployment write needs when it restores the backup.

import type { JsonObject, Rejection, TenantId } from '@holdfast/contract'
import { type RestoredPins, reject } from '@holdfast/core'
import { SCALING_FORM } from '../../store/records/collection.ts'
import { backups, type StoredBackup } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { NeededForm } from '../write-in-form.ts'

export interface RestoredBackup
  extends RestoredPins,
    Pick<StoredBackup, 'id' | 'deploymentName' | 'deploymentRevision'> {
  /** The scaling policy in the backup; absent if the deployment had none. */
  readonly scalingPolicy?: JsonObject
}

/** The form of the records that the restore of a backup writes; undefined if all servers read them. */
export const restoredForm = (
  backup: Pick<RestoredBackup, 'scalingPolicy'> | undefined,
): NeededForm | undefined =>
  backup?.scalingPolicy === undefined ? undefined : { v: SCALING_FORM, of: 'scaling policies' }

/** Rejects the restore of a backup that was deleted since it was read. The backup is compared at commit. */
export function checkBackup(
  transaction: Transaction,
  tenant: TenantId,
  backup: RestoredBackup | undefined,
): Rejection | undefined {
  if (backup === undefined || transaction.get(inTenant(tenant, backups, backup.id)) !== undefined)
    return undefined
  return reject('backup_not_found', 'id', backup.id)
}
