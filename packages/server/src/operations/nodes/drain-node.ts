// POST /api/v1/nodes/{id}/drain: cordons the node. The controllers then move each replica away; the old one stops when
// the new one is ready. stageDrained records the end of the drain.

import type { Node, NodeId, TenantId } from '@holdfast/contract'
import type { Clock } from '../../ports/clock.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import type { Store, TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { Caller, Outcome } from '../caller.ts'
import { type Kept, keepOnce, keepUnchanged } from '../idempotency.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { delaysDrain } from '../volumes/copies-on-node.ts'
import { findMatching, type NodeAct } from './change-node.ts'
import { readClaims } from './claims.ts'
import type { NodeDeps } from './deps.ts'
import { drainedEvent, drainingEvent } from './node-events.ts'
import { nodeView } from './node-view.ts'
import { isInUse } from './release-node.ts'

export async function drainNode(
  deps: Pick<NodeDeps, 'store' | 'clock' | 'answers'>,
  caller: Caller,
  id: string,
  { ifMatch, ...kept }: NodeAct,
): Promise<Outcome<Node>> {
  const outcome = await deps.store.transact<Outcome<Node>>((transaction) => {
    const found = findMatching(deps.store, transaction, caller, id, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    return decideDrain(deps, transaction, caller, found.value, kept)
  })
  if (!outcome.ok) return outcome
  // The drain ends in a second transaction, because only a cache that already shows the node as unschedulable is
  // certain to show all placements on the node.
  await deps.store.transact((transaction) => stageDrained(deps, transaction, caller.tenant, outcome.value.id))
  // The response to a repeated request must be identical, so it does not depend on whether there were replicas to move.
  return outcome
}

function decideDrain(
  { clock, answers }: Pick<NodeDeps, 'clock' | 'answers'>,
  transaction: Transaction,
  caller: Caller,
  before: StoredNode,
  kept: Kept<Node>,
): TransactionDecision<Outcome<Node>> {
  const node = { ...before, schedulable: false, draining: true }
  const view = nodeView(node, caller.tenant, readClaims(transaction, node.name))
  if (isDraining(before)) return keepUnchanged(answers, transaction, caller, kept, view)
  transaction.put(inTenant(caller.tenant, nodes, node.id), node)
  recordEvent(transaction, clock, caller.tenant, drainingEvent(node, transaction.id))
  const subject = { kind: 'Node', name: node.name }
  recordAudit(transaction, clock, caller, { action: 'nodes:drained', subject })
  return keepOnce(answers, transaction, caller, kept, view)
}

/**
 * Records the end of a drain. False while a replica is assigned to the node or a volume has its primary there, or if the
 * node is not being drained.
 */
export function stageDrained(
  { store, clock }: { readonly store: Pick<Store, 'get' | 'keysOf'>; readonly clock: Clock },
  transaction: Transaction,
  tenant: TenantId,
  id: NodeId,
): TransactionDecision<boolean> {
  const node = transaction.get(inTenant(tenant, nodes, id))
  if (node === undefined || !isDraining(node)) return { kind: 'abort', result: false }
  if (isInUse(store, tenant, id) || delaysDrain(store, tenant, id)) return { kind: 'abort', result: false }
  transaction.put(inTenant(tenant, nodes, id), withoutDraining(node))
  recordEvent(transaction, clock, tenant, drainedEvent(node, transaction.id))
  return { kind: 'commit', result: true }
}

/** Whether a node is being drained. Uncordoning a node ends its drain, because it may then get replicas again. */
export const isDraining = ({
  draining,
  schedulable,
}: Pick<StoredNode, 'draining' | 'schedulable'>): boolean => draining === true && !schedulable

/** The record of a node after a drain; the node is cordoned until an operator uncordons it. */
function withoutDraining(node: StoredNode): StoredNode {
  const { draining: _over, ...rest } = node
  return rest
}
