// Changes a node: cordon, uncordon, and its control-plane mark. A request that changes nothing succeeds without a write.

import { decode, isNodeId, type Json, type Node, nodePatchShape } from '@holdfast/contract'
import { nodes, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkShape } from '../check-shape.ts'
import { type Kept, keepOnce, keepUnchanged } from '../idempotency.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { readClaims } from './claims.ts'
import type { NodeDeps } from './deps.ts'
import { findNode, nodeNotFound } from './find-node.ts'
import { cordonEvent } from './node-events.ts'
import { nodeView } from './node-view.ts'

/** A request that cordons, uncordons or drains a node. */
export interface NodeAct extends Kept<Node> {
  readonly ifMatch: string | undefined
}

export async function setSchedulable(
  { store, clock, answers }: NodeDeps,
  caller: Caller,
  id: string,
  schedulable: boolean,
  { ifMatch, ...kept }: NodeAct,
): Promise<Outcome<Node>> {
  return store.transact<Outcome<Node>>((transaction) => {
    const found = findMatching(store, transaction, caller, id, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    // Uncordoning ends a drain; cordoning a node that is being drained does not.
    const { draining, ...rest } = found.value
    const node = { ...rest, schedulable, ...(draining === true && !schedulable ? { draining } : {}) }
    const view = nodeView(node, caller.tenant, readClaims(transaction, node.name))
    if (found.value.schedulable === schedulable)
      return keepUnchanged(answers, transaction, caller, kept, view)
    transaction.put(inTenant(caller.tenant, nodes, node.id), node)
    recordEvent(transaction, clock, caller.tenant, cordonEvent(node, transaction.id))
    recordAudit(transaction, clock, caller, {
      action: schedulable ? 'nodes:uncordoned' : 'nodes:cordoned',
      subject: { kind: 'Node', name: node.name },
    })
    return keepOnce(answers, transaction, caller, kept, view)
  })
}

export async function changeNode(
  { store, clock }: NodeDeps,
  caller: Caller,
  id: string,
  sent: Json,
  ifMatch: string | undefined,
): Promise<Outcome<Node>> {
  const faults = checkShape(nodePatchShape, sent)
  if (faults.length > 0) return refused(...faults)
  const patch = decode(nodePatchShape, sent)
  return store.transact<Outcome<Node>>((transaction) => {
    const found = findMatching(store, transaction, caller, id, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    const node = { ...found.value, ...patch }
    const view = nodeView(node, caller.tenant, readClaims(transaction, node.name))
    // A request that changes nothing succeeds without a write.
    if (found.value.controlPlane === patch.controlPlane) return { kind: 'abort', result: done(view) }
    transaction.put(inTenant(caller.tenant, nodes, node.id), node)
    recordAudit(transaction, clock, caller, {
      action: 'nodes:changed',
      subject: { kind: 'Node', name: node.name },
    })
    return { kind: 'commit', result: done(view) }
  })
}

/** Finds a node of the caller's tenant; rejects a caller whose token was revoked. */
export function findToChange(transaction: Transaction, caller: Caller, id: string): Outcome<StoredNode> {
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return refused(gone)
  const node = isNodeId(id) ? transaction.get(inTenant(caller.tenant, nodes, id)) : undefined
  return node === undefined ? nodeNotFound(id) : done(node)
}

/** Like `findToChange`; also rejects an `If-Match` of another revision than the one in the cache, which the node's ETag is. */
export function findMatching(
  store: Pick<Store, 'get'>,
  transaction: Transaction,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Outcome<StoredNode> {
  const found = findToChange(transaction, caller, id)
  if (!found.ok) return found
  const conflict = checkIfMatch(ifMatch, findNode(store, caller.tenant, id)?.modRevision ?? 0)
  return conflict === undefined ? found : refused(conflict)
}
