// DELETE .../volumes/{id}: the volume is deleted once no agent has data of it. A volume that a deployment mounts stays.

import type { NodeId, TenantId, Volume, VolumeId } from '@holdfast/contract'
import { keepPromotable, quotaBytes, reject, withCopies } from '@holdfast/core'
import { type Clock, timestamp } from '../../ports/clock.ts'
import { freeSlot } from '../../quotas/hold-slot.ts'
import {
  copyReports,
  nodes,
  pools,
  type StoredVolume,
  VOLUME_USE_ID,
  volumeNames,
  volumes,
  volumeUse,
  volumeWriters,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { findToChange } from './change-volume.ts'
import type { VolumeDeps } from './deps.ts'
import { volumeDeletedEvent } from './volume-events.ts'
import { countBytes } from './volume-use.ts'
import { volumeView } from './volume-view.ts'

export async function deleteVolume(
  { store, clock }: Pick<VolumeDeps, 'store' | 'clock'>,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Promise<Outcome<Volume>> {
  const { tenant } = caller
  return store.transact<Outcome<Volume>>((transaction) => {
    const found = findToChange(transaction, caller, id, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    const stored = found.value
    const deleting = markDeleting(stored, timestamp(clock), holdersOf(store, tenant, stored.id))
    const view = volumeView(store, tenant, deleting)
    if (stored.phase === 'Deleting') return { kind: 'abort', result: done(view) }
    const consumers = namesOfUsers(transaction, tenant, stored.id, view.consumers).join(', ')
    if (consumers !== '')
      return { kind: 'abort', result: refused(reject('volume_in_use', 'id', id, { consumers })) }
    stageDeleting(transaction, clock, tenant, deleting)
    const subject = { kind: 'Volume', name: stored.spec.name }
    recordAudit(transaction, clock, caller, { action: 'volumes:delete', subject })
    return { kind: 'commit', result: done(view) }
  })
}

/** The nodes whose pools have data of the volume, quarantined data included, as their agents reported. */
export function holdersOf(store: Pick<Store, 'get' | 'list'>, tenant: TenantId, id: VolumeId): NodeId[] {
  const ids = store.list(nodes, tenant).map(({ record }) => record.id)
  return ids.filter((nodeId) => {
    const { copies = [], quarantined = [] } = store.get(inTenant(tenant, pools, nodeId))?.record ?? {}
    return [...copies, ...quarantined].some(({ volume }) => volume === id)
  })
}

/** The record of a volume whose copies must be deleted, and all other data of it that nodes hold. */
export function markDeleting(stored: StoredVolume, now: string, holders: readonly NodeId[]): StoredVolume {
  if (stored.phase === 'Deleting') return stored
  const { revision } = stored
  const without = withCopies(stored, [], now)
  const known = new Set(without.leaving?.map(({ nodeId }) => nodeId))
  const others = holders.filter((nodeId) => !known.has(nodeId)).map((nodeId) => ({ nodeId, since: now }))
  return keepPromotable(stored, {
    ...without,
    ...(others.length > 0 && { leaving: [...(without.leaving ?? []), ...others] }),
    phase: 'Deleting',
    reason: null,
    handover: null,
    revision: revision + 1,
  })
}

/** Stores a volume in phase Deleting, or removes it if no agent has data of it. */
export function stageDeleting(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  deleting: StoredVolume,
): void {
  if (deleting.leaving === undefined || deleting.leaving.length === 0)
    stageRemoval(transaction, clock, tenant, deleting)
  else transaction.put(inTenant(tenant, volumes, deleting.id), deleting)
}

/** Removes the record, and frees the name, the quota slot and the bytes. */
export function stageRemoval(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  stored: StoredVolume,
): void {
  transaction.delete(inTenant(tenant, volumes, stored.id))
  transaction.delete(inTenant(tenant, volumeNames, stored.spec.name))
  transaction.deleteWithin(tenant, copyReports, stored.id)
  freeSlot(transaction, tenant, 'volumes', stored.slot)
  countBytes(transaction, tenant, -quotaBytes(stored.spec))
  recordEvent(transaction, clock, tenant, volumeDeletedEvent(stored))
}

/**
 * The workloads that keep the volume: those that mount it, and the last writer until its container is confirmed gone. The
 * claim of the writer and the counter that every new reader writes are compared at commit, so a mount that is stored at the
 * same moment keeps the volume.
 */
function namesOfUsers(
  transaction: Transaction,
  tenant: TenantId,
  id: VolumeId,
  consumers: readonly string[],
): string[] {
  transaction.get(inTenant(tenant, volumeUse, VOLUME_USE_ID))
  const writer = transaction.get(inTenant(tenant, volumeWriters, id))?.name
  return [...new Set(writer === undefined ? consumers : [...consumers, writer])].sort()
}
