// DELETE /networks/{id}: the network is deleted once its agent has removed it. A network that a workload uses stays.

import { isNetworkId, type Network, type TenantId } from '@holdfast/contract'
import { nextNetwork, reject } from '@holdfast/core'
import type { Clock } from '../../ports/clock.ts'
import { freeSlot } from '../../quotas/hold-slot.ts'
import { networkNames, networkReports, networks, type StoredNetwork } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import type { NetworkDeps } from './deps.ts'
import { networkDeletedEvent } from './network-events.ts'
import { networkSituation } from './network-situation.ts'
import { networkView } from './network-view.ts'
import { networkNotFound } from './read-networks.ts'

export async function deleteNetwork(
  { store, clock }: Pick<NetworkDeps, 'store' | 'clock'>,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Promise<Outcome<Network>> {
  const { tenant } = caller
  return store.transact<Outcome<Network>>((transaction) => {
    const found = findToDelete(transaction, caller, id, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    const deleting = markDeleting(found.value)
    const view = networkView(store, tenant, deleting)
    if (found.value.phase === 'Deleting') return { kind: 'abort', result: done(view) }
    // A workload that newly names the network writes this record, so that one of the two conflicts.
    transaction.get(inTenant(tenant, networkNames, deleting.options.name))
    const consumers = view.attached.join(', ')
    if (consumers !== '')
      return { kind: 'abort', result: refused(reject('network_in_use', 'id', id, { consumers })) }
    stageDeleting(transaction, clock, tenant, deleting)
    const subject = { kind: 'Network', name: deleting.options.name }
    recordAudit(transaction, clock, caller, { action: 'networks:delete', subject })
    return { kind: 'commit', result: done(view) }
  })
}

function findToDelete(
  transaction: Transaction,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Outcome<StoredNetwork> {
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return refused(gone)
  const stored = isNetworkId(id) ? transaction.get(inTenant(caller.tenant, networks, id)) : undefined
  if (stored === undefined) return networkNotFound(id)
  const conflict = checkIfMatch(ifMatch, stored.revision)
  return conflict === undefined ? done(stored) : refused(conflict)
}

/** The record of a network that its agent must remove. */
export const markDeleting = (stored: StoredNetwork): StoredNetwork =>
  stored.phase === 'Deleting'
    ? stored
    : { ...stored, phase: 'Deleting', reason: null, desired: 'removed', revision: stored.revision + 1 }

/** Stores a network in phase Deleting, or removes it if its node cannot have it. */
export function stageDeleting(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  deleting: StoredNetwork,
): void {
  const situation = networkSituation((address) => transaction.get(address), tenant, deleting)
  const next = nextNetwork(deleting, situation)
  if (next.kind === 'delete') stageRemoval(transaction, clock, tenant, deleting, next.confirmed)
  else transaction.put(inTenant(tenant, networks, deleting.id), deleting)
}

/** Removes the record, and frees the name and the quota slot. */
export function stageRemoval(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  stored: StoredNetwork,
  confirmed: boolean,
): void {
  transaction.delete(inTenant(tenant, networks, stored.id))
  transaction.delete(inTenant(tenant, networkNames, stored.options.name))
  transaction.delete(inTenant(tenant, networkReports, stored.id))
  freeSlot(transaction, tenant, 'networks', stored.slot)
  recordEvent(transaction, clock, tenant, networkDeletedEvent(stored, confirmed))
}
