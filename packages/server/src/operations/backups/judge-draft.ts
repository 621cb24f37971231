// Decides whether the copy of a deployment may become a backup: the caller, the deployment and the quotas.

import type { TenantId } from '@holdfast/contract'
import { checkQuotas, type QuotaFact } from '@holdfast/core'
import type { SlotChoice } from '../../quotas/slots.ts'
import { deployments, type StoredDeployment } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, type Refused, refused } from '../caller.ts'
import { requireLiveCaller } from '../preconditions.ts'
import type { CutContent } from './backup-content.ts'
import type { BackupDeps } from './deps.ts'

export const KIND = 'backups'

/** The deployment was changed while it was copied, so the copy does not show one point in time. */
export const CHANGED = 'changed'

interface DraftToJudge {
  readonly caller: Caller
  /** The deployment as it was copied. */
  readonly copied: StoredDeployment
}

/** Compares the deployment with the copied one, and checks the caller and the quotas; undefined if all is well. */
export function judgeDraft(
  transaction: Transaction,
  { caller, copied }: DraftToJudge,
  quotas: readonly QuotaFact[],
): Refused | typeof CHANGED | undefined {
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return refused(gone)
  const stored = transaction.get(inTenant(caller.tenant, deployments, copied.spec.name))
  if (stored === undefined || !isCopied(stored, copied)) return CHANGED
  const full = checkQuotas(quotas)
  return full.length > 0 ? refused(...full) : undefined
}

/** Whether the parts of the deployment that a backup contains are the copied ones. */
const isCopied = (stored: StoredDeployment, copied: StoredDeployment): boolean =>
  stored.uid === copied.uid &&
  stored.revision === copied.revision &&
  stored.digest === copied.digest &&
  stored.scaling?.revision === copied.scaling?.revision

export function slotQuota({ slots, quotas }: BackupDeps, tenant: TenantId, slot: SlotChoice): QuotaFact[] {
  if (slot.kind !== 'full') return []
  const limit = quotas.limit(tenant, KIND)
  return [{ kind: KIND, used: Math.max(slots.used(tenant, KIND), limit), requested: 1, limit }]
}

/** Estimated bytes that a backup stores besides its parts: keys, record, event and audit entry. */
const OVERHEAD_BYTES = 2048

export function bytesQuota(
  { store, quotas }: BackupDeps,
  tenant: TenantId,
  { parts }: CutContent,
): QuotaFact {
  const kind = 'stored_bytes'
  const bytes = parts.reduce((sum, text) => sum + Buffer.byteLength(JSON.stringify(text)), OVERHEAD_BYTES)
  return { kind, used: store.storedBytes(tenant), requested: bytes, limit: quotas.limit(tenant, kind) }
}
