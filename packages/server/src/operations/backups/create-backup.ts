// POST /api/v1/backups: copies the configuration of a deployment. All parts are written first; one transaction then
// makes the backup visible, if the deployment is still the one that was copied (docs/design/backups.md#parts).

import { asBackupId, type Backup, decode, type Json, newBackupShape } from '@holdfast/contract'
import { anchoredVersions, reject } from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { claimSlot, type HeldSlot, holdSlot } from '../../quotas/hold-slot.ts'
import {
  backupDrafts,
  backups,
  credentials,
  deployments,
  type StoredBackup,
  type StoredDeployment,
} from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, type Outcome, type Refused, refused } from '../caller.ts'
import { checkShape } from '../check-shape.ts'
import { type Kept, keepOnce } from '../idempotency.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { backupView, type CutContent, gatherContent } from './backup-content.ts'
import { dropDraft, repeatIfLost, writeParts } from './backup-drafts.ts'
import { backupCreatedEvent } from './backup-events.ts'
import type { BackupDeps } from './deps.ts'
import { bytesQuota, CHANGED, judgeDraft, KIND, slotQuota } from './judge-draft.ts'

/** The most attempts to copy a deployment, each after the deployment changed while it was copied. */
const MAX_ATTEMPTS = 5

export async function createBackup(
  deps: BackupDeps,
  caller: Caller,
  sent: Json,
  kept: Kept<Backup>,
): Promise<Outcome<Backup>> {
  const faults = checkShape(newBackupShape, sent)
  if (faults.length > 0) return refused(...faults)
  const { deploymentName } = decode(newBackupShape, sent)
  const held = holdSlot(deps, caller.tenant, KIND)
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const outcome = await copyOnce(deps, { caller, deploymentName, held, kept })
      if (outcome !== CHANGED) return outcome
    }
    const cause = `deployment ${deploymentName} changed during each of ${MAX_ATTEMPTS} attempts to copy it`
    return refused(reject('store_unavailable', 'store', undefined, { cause }))
  } finally {
    held.release()
  }
}

interface BackupRequest {
  readonly caller: Caller
  readonly deploymentName: string
  readonly held: HeldSlot
  readonly kept: Kept<Backup>
}

interface Draft extends BackupRequest {
  readonly id: StoredBackup['id']
  /** The deployment as it was copied. */
  readonly copied: StoredDeployment
  readonly content: CutContent
}

async function copyOnce(deps: BackupDeps, request: BackupRequest): Promise<Outcome<Backup> | typeof CHANGED> {
  const { store, ids } = deps
  const { caller, deploymentName } = request
  await store.fresh()
  const copied = store.get(inTenant(caller.tenant, deployments, deploymentName))?.record
  if (copied === undefined) return refused(reject('deployment_not_found', 'deploymentName', deploymentName))
  const content = await gatherContent(store, caller.tenant, copied)
  if (content === undefined) return CHANGED
  const draft = { ...request, id: asBackupId(`bak_${ids.ulid()}`), copied, content }
  const begun = await repeatIfLost(() =>
    store.transact((transaction) => beginDraft(deps, transaction, draft)),
  )
  if (begun !== undefined) return begun
  return finishDraft(deps, draft)
}

/** Checks everything before the first write, so that a rejected request changes nothing. */
function beginDraft(
  deps: BackupDeps,
  transaction: Transaction,
  draft: Draft,
): TransactionDecision<Refused | typeof CHANGED | undefined> {
  const { caller, held, id, content } = draft
  const slot = held.choose()
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const faults = judgeDraft(transaction, draft, [
    ...slotQuota(deps, caller.tenant, slot),
    bytesQuota(deps, caller.tenant, content),
  ])
  if (faults !== undefined) return { kind: 'abort', result: faults }
  const draftAt = inTenant(caller.tenant, backupDrafts, id)
  transaction.put(draftAt, { v: 1, startedAt: timestamp(deps.clock) })
  return { kind: 'commit', result: undefined }
}

async function finishDraft(deps: BackupDeps, draft: Draft): Promise<Outcome<Backup> | typeof CHANGED> {
  const { store } = deps
  const { caller, id, content } = draft
  const isWritten = await writeParts(store, caller.tenant, id, content.parts)
  const outcome = isWritten
    ? await store.transact((transaction) => decideBackup(deps, transaction, draft))
    : CHANGED
  if (outcome === CHANGED || !outcome.ok) await dropDraft(store, caller.tenant, id)
  return outcome
}

function decideBackup(
  deps: BackupDeps,
  transaction: Transaction,
  draft: Draft,
): TransactionDecision<Outcome<Backup> | typeof CHANGED> {
  const { caller, held, kept, id } = draft
  const { tenant } = caller
  const slot = held.choose()
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const faults = judgeDraft(transaction, draft, slotQuota(deps, tenant, slot))
  if (faults !== undefined) return { kind: 'abort', result: faults }
  if (slot.kind === 'full') throw new TypeError('a full quota was not rejected')
  const draftAt = inTenant(tenant, backupDrafts, id)
  if (transaction.get(draftAt) === undefined) return { kind: 'abort', result: CHANGED }
  const stored = newBackup(deps, transaction, draft, slot.slot)
  transaction.delete(draftAt)
  transaction.put(inTenant(tenant, backups, id), stored)
  claimSlot(transaction, tenant, KIND, slot.slot, id)
  recordEvent(transaction, deps.clock, tenant, backupCreatedEvent(stored))
  const detail = { deployment: stored.deploymentName }
  recordAudit(transaction, deps.clock, caller, {
    action: 'backups:create',
    subject: { kind: 'Backup', name: id },
    detail,
  })
  return keepOnce(deps.answers, transaction, caller, kept, backupView(stored))
}

function newBackup(
  { clock }: BackupDeps,
  transaction: Transaction,
  { caller, id, copied, content: { parts, ...described } }: Draft,
  slot: number,
): StoredBackup {
  const { spec, uid, revision, specHash, pins = {} } = copied
  const initialOf = (label: string) =>
    transaction.get(inTenant(caller.tenant, credentials, label))?.initial ?? null
  const anchored = anchoredVersions({ secrets: spec.secrets, pins }, initialOf)
  return {
    v: 1,
    id,
    deploymentName: spec.name,
    uid,
    createdAt: timestamp(clock),
    deploymentRevision: revision,
    specHash,
    ...described,
    parts: parts.length,
    slot,
    ...(Object.keys(anchored).length === 0 ? {} : { anchored: { ...anchored } }),
  }
}
