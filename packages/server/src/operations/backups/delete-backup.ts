// DELETE /api/v1/backups/{id}: removes the record, its parts and its quota slot in one transaction.

import type { Backup } from '@holdfast/contract'
import { freeSlot } from '../../quotas/hold-slot.ts'
import { backupParts, backups } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { backupView } from './backup-content.ts'
import { backupDeletedEvent } from './backup-events.ts'
import type { BackupDeps } from './deps.ts'
import { backupNotFound, findBackup } from './read-backups.ts'

/** A backup never changes, so its revision is always the first one. */
export const BACKUP_REVISION = 1

export async function deleteBackup(
  { store, clock }: Pick<BackupDeps, 'store' | 'clock'>,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Promise<Outcome<Backup>> {
  const { tenant } = caller
  return store.transact<Outcome<Backup>>((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    const stored = findBackup(transaction, tenant, id)
    if (stored === undefined) return { kind: 'abort', result: backupNotFound(id) }
    const conflict = checkIfMatch(ifMatch, BACKUP_REVISION)
    if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
    transaction.delete(inTenant(tenant, backups, stored.id))
    transaction.deleteWithin(tenant, backupParts, stored.id)
    freeSlot(transaction, tenant, 'backups', stored.slot)
    recordEvent(transaction, clock, tenant, backupDeletedEvent(stored))
    const subject = { kind: 'Backup', name: stored.id }
    const detail = { deployment: stored.deploymentName }
    recordAudit(transaction, clock, caller, { action: 'backups:delete', subject, detail })
    return { kind: 'commit', result: done(backupView(stored)) }
  })
}
