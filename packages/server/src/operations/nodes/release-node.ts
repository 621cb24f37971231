// Removes a node from its tenant: DELETE /nodes/{id} and DELETE /nodes/{nodeName}/claim. A node
// without replicas, networks and data of volumes is removed at once with its record, name and quota slot. Otherwise the
// node's claim becomes `releasing`, the node gets no new replicas, and finishRelease removes it after the last assignment
// ends and its agent has confirmed that its networks are removed and all data of its pool is deleted. `force` is for a machine that will never
// answer again; its pool is marked.

import { asOwner, type Node, type NodeId, type TenantId } from '@holdfast/contract'
import { reject, tokensThatMay } from '@holdfast/core'
import { freeSlot } from '../../quotas/hold-slot.ts'
import { nodes, placements, pools, type StoredNode } from '../../store/records.ts'
import type { Store, TransactionDecision } from '../../store/store.ts'
import { inTenant, placementAt, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { mayHaveNetworks } from '../networks/network-situation.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { hasVolumeData } from '../volumes/copies-on-node.ts'
import { findMatching } from './change-node.ts'
import { isNodeName } from './check-node-name.ts'
import { type Claim, claimOf, readClaims, releasing, withoutClaim, writeClaims } from './claims.ts'
import type { NodeDeps } from './deps.ts'
import { findNode } from './find-node.ts'
import { claimReleasedEvent } from './node-events.ts'
import { nodeView } from './node-view.ts'
import { isPoolEmpty, markPool, poolAfter } from './pools.ts'

type ReleaseDeps = Pick<NodeDeps, 'store' | 'clock'>

interface FinishDeps extends Pick<NodeDeps, 'clock'> {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf' | 'transact'>
}

export interface RemoveOptions {
  readonly force: boolean
  readonly ifMatch: string | undefined
}

export async function removeNode(
  deps: ReleaseDeps,
  caller: Caller,
  id: string,
  { force, ifMatch }: RemoveOptions,
): Promise<Outcome<Node>> {
  const outcome = await deps.store.transact<Outcome<Node>>((transaction) => {
    const found = findMatching(deps.store, transaction, caller, id, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    // NOTE `force` is allowed even if the machine answers, to revoke the key of a compromised machine at once. The
    // machine's containers keep running unmanaged, and the owner of the machine must stop them.
    return decideRelease(deps, transaction, caller, { node: found.value, force, action: 'nodes:removed' })
  })
  return force ? outcome : removeIfUnused(deps, caller.tenant, outcome, 'removed')
}

export async function releaseClaim(
  deps: ReleaseDeps,
  caller: Caller,
  nodeName: string,
  ifMatch: string | undefined,
): Promise<Outcome<Node>> {
  const outcome = await deps.store.transact<Outcome<Node>>((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    const claims = isNodeName(nodeName) ? readClaims(transaction, nodeName) : []
    const own = claimOf(claims, caller.tenant)
    const node = own && transaction.get(inTenant(caller.tenant, nodes, own.nodeId))
    if (node === undefined) {
      return { kind: 'abort', result: refused(reject('node_not_found', 'nodeName', nodeName)) }
    }
    const conflict = checkIfMatch(ifMatch, findNode(deps.store, caller.tenant, node.id)?.modRevision ?? 0)
    if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
    return decideRelease(deps, transaction, caller, { node, force: false, action: 'claims:released' })
  })
  return removeIfUnused(deps, caller.tenant, outcome, 'released')
}

/**
 * Removes an unused node in a second transaction: the cache shows all its placements only once it is unschedulable.
 */
async function removeIfUnused(
  deps: ReleaseDeps,
  tenant: TenantId,
  outcome: Outcome<Node>,
  reason: 'released' | 'removed',
): Promise<Outcome<Node>> {
  if (!outcome.ok || !(await finishRelease(deps, tenant, outcome.value.name, reason))) return outcome
  return done({ ...outcome.value, claims: outcome.value.claims.filter(({ own }) => !own) })
}

interface NodeRelease {
  readonly node: StoredNode
  readonly force: boolean
  readonly action: 'nodes:removed' | 'claims:released'
}

function decideRelease(
  { store, clock }: ReleaseDeps,
  transaction: Transaction,
  caller: Caller,
  { node, force, action }: NodeRelease,
): TransactionDecision<Outcome<Node>> {
  const { tenant } = caller
  if (node.controlPlane && caller.role !== 'platform-admin')
    return { kind: 'abort', result: refused(platformOnly()) }
  const before = readClaims(transaction, node.name)
  const claims = force ? withoutClaim(before, tenant) : releasing(before, tenant)
  const closed = { ...node, schedulable: false }
  const result = done(nodeView(closed, tenant, claims))
  const isUnderWay = !force && claimOf(before, tenant)?.state === 'releasing'
  // A release that is already in progress succeeds again without a change.
  if (isUnderWay) return { kind: 'abort', result }
  if (force) dropNode({ store, clock }, transaction, tenant, { node, claims: before, reason: 'forced' })
  else {
    transaction.put(inTenant(tenant, nodes, node.id), closed)
    writeClaims(transaction, node.name, claims)
  }
  recordAudit(transaction, clock, caller, { action, subject: { kind: 'Node', name: node.name } })
  return { kind: 'commit', result }
}

/** Rejects a tenant's removal of a control-plane node, which could then enroll again without its control-plane mark. */
function platformOnly() {
  const accepted = tokensThatMay('control-plane-nodes:write')
  return reject('permission_denied', 'Authorization', undefined, { accepted })
}

/**
 * The last step of a release: true if the node was removed, false while a replica is assigned to it or if no release is
 * in progress. Must be called whenever an assignment of the tenant ends; repeated calls are safe.
 */
export async function finishRelease(
  deps: FinishDeps,
  tenant: TenantId,
  nodeName: string,
  reason: 'released' | 'removed' = 'released',
): Promise<boolean> {
  return deps.store.transact((transaction) => stageRelease(deps, transaction, tenant, nodeName, reason))
}

export function stageRelease(
  { store, clock }: Omit<FinishDeps, 'store'> & { readonly store: Omit<FinishDeps['store'], 'transact'> },
  transaction: Transaction,
  tenant: TenantId,
  nodeName: string,
  reason: 'released' | 'removed' = 'released',
): TransactionDecision<boolean> {
  const claims = readClaims(transaction, nodeName)
  const own = claimOf(claims, tenant)
  const node = own && transaction.get(inTenant(tenant, nodes, own.nodeId))
  // Without a release in progress there is nothing to commit.
  if (own?.state !== 'releasing' || node === undefined) return { kind: 'abort', result: false }
  const isKept =
    isInUse(store, tenant, node.id) ||
    hasVolumeData(store, tenant, node.id) ||
    mayHaveNetworks(store, tenant, node.id)
  const pool = transaction.get(inTenant(tenant, pools, node.id))
  if (isKept || !isPoolEmpty(node, pool)) return { kind: 'abort', result: false }
  dropNode({ store, clock }, transaction, tenant, { node, claims, reason })
  return { kind: 'commit', result: true }
}

interface NodeRemoval {
  readonly node: StoredNode
  readonly claims: readonly Claim[]
  readonly reason: 'released' | 'removed' | 'forced'
}

function dropNode(
  { store, clock }: Parameters<typeof stageRelease>[0],
  transaction: Transaction,
  tenant: TenantId,
  { node, claims, reason }: NodeRemoval,
): void {
  const pool = poolAfter(node, transaction.get(inTenant(tenant, pools, node.id)))
  if (pool === 'unknown') markPool(store, transaction, clock, tenant, node)
  transaction.delete(inTenant(tenant, pools, node.id))
  transaction.delete(inTenant(tenant, nodes, node.id))
  freeSlot(transaction, tenant, 'nodes', node.slot)
  writeClaims(transaction, node.name, withoutClaim(claims, tenant))
  recordEvent(transaction, clock, tenant, claimReleasedEvent(node, reason, pool))
}

/**
 * Whether replicas are assigned to a node. The cache must show the node as unschedulable: then it shows all earlier
 * placements, and later ones fail at commit. A placement that cannot be read may be on any node, so it counts as use.
 */
export function isInUse(store: Pick<Store, 'get' | 'keysOf'>, tenant: TenantId, nodeId: NodeId): boolean {
  return store.keysOf(placements, tenant).some(({ id }) => {
    const placement = store.get(placementAt(tenant, asOwner(id)))?.record
    return placement?.assignments.some((assignment) => assignment.nodeId === nodeId) ?? true
  })
}
