// POST /tenants/{tenant}/volumes: one transaction claims the name, a quota slot and the bytes, chooses the nodes and stores
// the volume. If no node fits, the volume is stored without a primary.

import { asVolumeId, type Json, type TenantId, type VolumeSpec, type WrittenVolume } from '@holdfast/contract'
import {
  checkQuotas,
  checkVolume,
  checkVolumeFacts,
  placeCopies,
  placedPhase,
  type QuotaFact,
  quotaBytes,
  type SentVolume,
} from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { claimSlot, type HeldSlot, holdSlot } from '../../quotas/hold-slot.ts'
import type { SlotChoice } from '../../quotas/slots.ts'
import { VOLUME_FORM } from '../../store/records/collection.ts'
import { nodes, type StoredVolume, volumeNames, volumes } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, type Outcome, refused } from '../caller.ts'
import { type Kept, keepOnce } from '../idempotency.ts'
import { requireLiveCaller } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { type HasForm, RAISE_FORM, writeInForm } from '../write-in-form.ts'
import { compareNewNodes } from './copies-on-node.ts'
import type { VolumeDeps } from './deps.ts'
import { volumeCreatedEvent } from './volume-events.ts'
import { demandOf, gatherVolumeFacts } from './volume-facts.ts'
import { bytesQuota, countBytes } from './volume-use.ts'
import { namesOfNodes, volumeView } from './volume-view.ts'

const KIND = 'volumes'

export async function createVolume(
  deps: VolumeDeps,
  caller: Caller,
  body: Json,
  kept: Kept<WrittenVolume>,
): Promise<Outcome<WrittenVolume>> {
  const regions = new Set(Object.keys(deps.residency.regions))
  const checked = checkVolume(body, { limits: deps.limits, regions })
  if (!checked.ok) return refused(...checked.rejections)
  const held = holdSlot(deps, caller.tenant, KIND)
  try {
    return await writeInForm(deps.store, { v: VOLUME_FORM, of: 'volumes' }, (hasForm) =>
      deps.store.transact((transaction) =>
        decideCreate(deps, transaction, { caller, sent: checked.value, held, kept, hasForm }),
      ),
    )
  } finally {
    held.release()
  }
}

interface CreateRequest {
  readonly caller: Caller
  readonly sent: SentVolume
  readonly held: HeldSlot
  readonly kept: Kept<WrittenVolume>
  readonly hasForm: HasForm
}

function decideCreate(
  deps: VolumeDeps,
  transaction: Transaction,
  { caller, sent: { spec, alterations }, held, kept, hasForm }: CreateRequest,
): TransactionDecision<Outcome<WrittenVolume> | typeof RAISE_FORM> {
  const { store, clock, answers } = deps
  const { tenant } = caller
  const slot = held.choose()
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
  const name = inTenant(tenant, volumeNames, spec.name)
  const rejections = [
    ...checkVolumeFacts(spec, {
      isNameTaken: transaction.get(name) !== undefined,
      isNodeKnown: isNodeKnown(transaction, tenant, spec),
    }),
    ...checkQuotas([
      ...recordQuota(deps, tenant, slot),
      ...bytesQuota(deps, transaction, tenant, quotaBytes(spec)),
    ]),
  ]
  if (slot.kind === 'full' || rejections.length > 0) return { kind: 'abort', result: refused(...rejections) }
  if (!hasForm(transaction)) return { kind: 'abort', result: RAISE_FORM }
  const volume = newVolume(deps, tenant, spec, slot.slot)
  compareNewNodes(transaction, tenant, undefined, volume)
  claimSlot(transaction, tenant, KIND, slot.slot, volume.id)
  countBytes(transaction, tenant, quotaBytes(spec))
  transaction.put(name, { v: 1, id: volume.id })
  transaction.put(inTenant(tenant, volumes, volume.id), volume)
  recordEvent(transaction, clock, tenant, volumeCreatedEvent(volume, namesOfNodes(store, tenant)))
  const subject = { kind: 'Volume', name: spec.name }
  recordAudit(transaction, clock, caller, { action: 'volumes:create', subject, revision: 1 })
  const shown = volumeView(store, tenant, volume)
  const written = { volume: shown, alterations: [...alterations], warnings: [] }
  return keepOnce(answers, transaction, caller, kept, written)
}

const isNodeKnown = (transaction: Transaction, tenant: TenantId, { nodeId }: VolumeSpec): boolean =>
  nodeId === undefined || transaction.get(inTenant(tenant, nodes, nodeId)) !== undefined

function recordQuota({ slots, quotas }: VolumeDeps, tenant: TenantId, slot: SlotChoice): QuotaFact[] {
  if (slot.kind !== 'full') return []
  const limit = quotas.limit(tenant, KIND)
  return [{ kind: KIND, used: Math.max(slots.used(tenant, KIND), limit), requested: 1, limit }]
}

function newVolume(
  { store, clock, ids, residency }: VolumeDeps,
  tenant: TenantId,
  spec: VolumeSpec,
  slot: number,
): StoredVolume {
  const copies = placeCopies(demandOf(store, tenant, spec, residency), [], gatherVolumeFacts(store, tenant))
  const now = timestamp(clock)
  const [primary] = copies
  return {
    v: VOLUME_FORM,
    id: asVolumeId(`vol_${ids.ulid()}`),
    spec,
    ...placedPhase(spec, copies),
    primary: primary === undefined ? null : { nodeId: primary.nodeId, epoch: 1, since: now },
    copies,
    revision: 1,
    createdAt: now,
    slot,
  }
}
