// Reconciles one network: decides from the cache and, if anything changes, writes the decision in one fenced transaction.

import type { NetworkId, NodeId, TenantId } from '@holdfast/contract'
import { type NextNetwork, nextNetwork } from '@holdfast/core'
import { stageRemoval } from '../../../operations/networks/delete-network.ts'
import { networkFailedEvent, networkReadyEvent } from '../../../operations/networks/network-events.ts'
import { networkSituation, type ReadRecord } from '../../../operations/networks/network-situation.ts'
import { stageRelease } from '../../../operations/nodes/release-node.ts'
import { recordEvent } from '../../../operations/record-write.ts'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import { networks, nodes, type StoredNetwork } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { LostLeadershipError } from '../../leadership/fence.ts'
import type { Leadership } from '../../leadership/lead-shards.ts'

export interface NetworkLoopDeps {
  readonly store: Store
  readonly clock: Clock
  readonly leadership: Pick<Leadership, 'owns' | 'fenced' | 'subscribe'>
}

export async function reconcileNetwork(
  deps: NetworkLoopDeps,
  tenant: TenantId,
  id: NetworkId,
): Promise<void> {
  const { store, leadership } = deps
  if (!leadership.owns(tenant)) return
  const first = decide((address) => store.get(address)?.record, tenant, id)
  if (first === undefined) return
  try {
    if (isChanged(first))
      await leadership.fenced<void>(tenant, (transaction) => {
        const decided = decide((address) => transaction.get(address), tenant, id)
        if (decided === undefined || !isChanged(decided)) return { kind: 'abort', result: undefined }
        stage(deps, transaction, tenant, decided)
        return { kind: 'commit', result: undefined }
      })
    await finishRelease(deps, tenant, first.before.nodeId)
  } catch (error) {
    // The process that owns the shard now reconciles the network.
    if (!(error instanceof LostLeadershipError)) throw error
  }
}

interface Decided {
  readonly before: StoredNetwork
  readonly next: NextNetwork
}

function decide(read: ReadRecord, tenant: TenantId, id: NetworkId): Decided | undefined {
  const before = read(inTenant(tenant, networks, id))
  return before && { before, next: nextNetwork(before, networkSituation(read, tenant, before)) }
}

function isChanged({ before, next }: Decided): boolean {
  if (next.kind === 'delete') return true
  const { phase, reason, desired } = next.state
  return phase !== before.phase || reason !== before.reason || desired !== before.desired
}

function stage(
  { clock }: NetworkLoopDeps,
  transaction: Transaction,
  tenant: TenantId,
  { before, next }: Decided,
): void {
  if (next.kind === 'delete') {
    stageRemoval(transaction, clock, tenant, before, next.confirmed)
    return
  }
  const { phase, reason, desired } = next.state
  const after: StoredNetwork = { ...before, phase, reason, desired }
  transaction.put(inTenant(tenant, networks, before.id), after)
  const now = timestamp(clock)
  if (next.occurrence === 'ready') recordEvent(transaction, clock, tenant, networkReadyEvent(after, now))
  if (next.occurrence === 'failed') recordEvent(transaction, clock, tenant, networkFailedEvent(after, now))
}

/** Ends the release of a node that a removed network may have freed. */
async function finishRelease(deps: NetworkLoopDeps, tenant: TenantId, id: NodeId): Promise<void> {
  const node = deps.store.get(inTenant(tenant, nodes, id))?.record
  if (node === undefined || node.schedulable) return
  await deps.leadership.fenced(tenant, (transaction) => stageRelease(deps, transaction, tenant, node.name))
}
