// Reads backups. Another tenant's backup and a missing one get the same answer.

import { type Backup, type BackupRecord, isBackupId, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { type BackupContent, backups, type StoredBackup } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { done, type Outcome, type Refused, refused } from '../caller.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'
import { backupRecord, backupView, readContent } from './backup-content.ts'

export const backupNotFound = (id: string): Refused => refused(reject('backup_not_found', 'id', id))

/** The record of a backup in a transaction; the record is compared at commit. */
export function findBackup(transaction: Transaction, tenant: TenantId, id: string): StoredBackup | undefined {
  return isBackupId(id) ? transaction.get(inTenant(tenant, backups, id)) : undefined
}

/** The ids sort by time, so the list begins with the oldest backup. */
export async function listBackups(
  store: Store,
  tenant: TenantId,
  request: PageRequest,
): Promise<Outcome<Page<Backup>>> {
  const stored = () => store.list(backups, tenant).map(({ record }) => record)
  return mapPage(await listPage(store, request, stored, ({ id }) => id), backupView)
}

interface FoundBackup {
  readonly stored: StoredBackup
  readonly content: BackupContent
}

/** A backup with its content, as currently stored. */
export async function readBackup(store: Store, tenant: TenantId, id: string): Promise<Outcome<FoundBackup>> {
  await store.fresh()
  const stored = isBackupId(id) ? store.get(inTenant(tenant, backups, id))?.record : undefined
  const content = stored && (await readContent(store, tenant, stored))
  return stored === undefined || content === undefined ? backupNotFound(id) : done({ stored, content })
}

export async function getBackup(store: Store, tenant: TenantId, id: string): Promise<Outcome<BackupRecord>> {
  const found = await readBackup(store, tenant, id)
  return found.ok ? done(backupRecord(found.value.stored, found.value.content)) : found
}
