// The parts of a backup before it is visible. A draft is noted before the first part and deleted together with all parts,
// or in the transaction that makes the backup visible. Each part compares the draft, so no part is written after that.

import { type BackupId, isBackupId, type TenantId } from '@holdfast/contract'
import type { Clock } from '../../ports/clock.ts'
import { backupDrafts, backupParts, tenants } from '../../store/records.ts'
import { type Store, StoreUnavailableError } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { partId } from './backup-content.ts'

/** Writes the parts of a draft. False if the draft was swept, because writing took too long. */
export async function writeParts(
  store: Pick<Store, 'transact'>,
  tenant: TenantId,
  id: BackupId,
  parts: readonly string[],
): Promise<boolean> {
  for (const [number, text] of parts.entries()) {
    const write = () => writePart(store, tenant, id, { number, text })
    if (!(await repeatIfLost(write))) return false
  }
  return true
}

function writePart(
  store: Pick<Store, 'transact'>,
  tenant: TenantId,
  id: BackupId,
  { number, text }: { readonly number: number; readonly text: string },
): Promise<boolean> {
  return store.transact((transaction) => {
    if (transaction.get(inTenant(tenant, backupDrafts, id)) === undefined)
      return { kind: 'abort', result: false }
    transaction.put(inTenant(tenant, backupParts, partId(id, number)), { v: 1, text })
    return { kind: 'commit', result: true }
  })
}

const MAX_ATTEMPTS = 3

/**
 * Repeats a write of a draft whose outcome is unknown. Writing the same draft or part twice changes nothing, so there is
 * no need to find out whether the first attempt was applied.
 */
export async function repeatIfLost<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** Deletes a draft with its parts. A draft that became a backup since is no draft any longer, and stays. */
export async function dropDraft(
  store: Pick<Store, 'transact'>,
  tenant: TenantId,
  id: BackupId,
): Promise<void> {
  await store.transact((transaction) => {
    const draft = inTenant(tenant, backupDrafts, id)
    if (transaction.get(draft) === undefined) return { kind: 'abort', result: undefined }
    transaction.delete(draft)
    transaction.deleteWithin(tenant, backupParts, id)
    return { kind: 'commit', result: undefined }
  })
}

/** Far longer than a backup takes: each of its transactions ends within some seconds. */
const ABANDONED_AFTER_MS = 600_000

/** Deletes the drafts of servers that stopped while they wrote a backup. */
export async function sweepBackupDrafts({ store, clock }: SweepDeps): Promise<void> {
  const old = clock.now() - ABANDONED_AFTER_MS
  for (const { record: tenant } of store.list(tenants))
    for (const { id } of store.keysOf(backupDrafts, tenant.id)) {
      const startedAt = store.get(inTenant(tenant.id, backupDrafts, id))?.record.startedAt
      if (isBackupId(id) && startedAt !== undefined && Date.parse(startedAt) < old)
        await dropDraft(store, tenant.id, id)
    }
}

interface SweepDeps {
  readonly store: Store
  readonly clock: Clock
}
