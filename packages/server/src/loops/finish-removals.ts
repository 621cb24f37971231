// What DELETE began is finished here: a deployment that is marked and of which no container is left is removed with its
// archive, its decisions, its routes, its references to credentials and its quota slot, and a tenant that is marked is
// removed with everything it has. Each removal is one transaction that compares what it read, so several replicas may do
// this at once and one of them does it.

import type { NodeId, TenantId } from '@holdfast/contract'
import { releaseRoutes } from '../operations/deployments/write/claim-routes.ts'
import { freeNodeNames } from '../operations/nodes/clean-up-nodes.ts'
import { recordEvent } from '../operations/record-write.ts'
import { releaseCredentials } from '../operations/secrets/versions/claim-credentials.ts'
import type { Clock } from '../ports/clock.ts'
import { freeSlot } from '../quotas/hold-slot.ts'
import {
  archive,
  decisionParts,
  decisions,
  deployments,
  nodes,
  placements,
  removals,
  tenants,
  tokens,
} from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant } from '../store/transaction.ts'

export interface RemovalDeps {
  readonly store: Store
  readonly clock: Clock
  removeTenantSecrets(tenant: TenantId): Promise<boolean>
}

/** Of one transaction; a tenant with more goes on at the next turn. */
const TOKENS_AT_ONCE = 80

export async function finishRemovals(deps: RemovalDeps): Promise<void> {
  const failures: unknown[] = []
  for (const { id, record } of deps.store.listWithIds(removals)) {
    const removal =
      record.name === null
        ? removeTenant(deps, record.tenant)
        : removeDeployment(deps, id, record.tenant, record.name)
    await removal.catch((error: unknown) => failures.push(error))
  }
  // One that fails keeps none of the others waiting; it is told, and tried again at the next turn.
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} removals failed`)
}

async function removeDeployment(
  { store, clock }: RemovalDeps,
  uid: string,
  tenant: TenantId,
  name: string,
): Promise<void> {
  await store.transact((transaction) => {
    transaction.delete(globally(removals, uid))
    const address = inTenant(tenant, deployments, name)
    const stored = transaction.get(address)
    if (stored === undefined || stored.uid !== uid) return { kind: 'commit', result: undefined }
    // Its controller takes each assignment out of the placement when the agent has confirmed that its container is gone.
    const placement = inTenant(tenant, placements, stored.uid)
    const left = transaction.get(placement)
    if (left !== undefined && left.assignments.length > 0) return { kind: 'abort', result: undefined }
    if (left !== undefined) transaction.delete(placement)
    transaction.delete(address)
    releaseRoutes(transaction, tenant, stored)
    releaseCredentials(transaction, tenant, stored.spec)
    freeSlot(transaction, tenant, 'deployments', stored.slot)
    transaction.deleteWithin(tenant, archive, name)
    transaction.deleteWithin(tenant, decisions, uid)
    transaction.deleteWithin(tenant, decisionParts, uid)
    recordEvent(transaction, clock, tenant, {
      type: 'deployment.deleted',
      severity: 'info',
      subject: { kind: 'Deployment', name, uid },
      cause: 'deleted',
      reason: 'deleted',
      message: `Deployment ${name} was deleted.`,
      data: {},
    })
    return { kind: 'commit', result: undefined }
  })
}

/** Containers first, then secrets: while the record stands, a failure is seen and tried again. */
async function removeTenant({ store, removeTenantSecrets }: RemovalDeps, id: TenantId): Promise<void> {
  await markDeployments(store, id)
  if (isRunningSomewhere(store, id)) return
  // What is marked gets no more replicas, but one that was placed just before may not be known here yet.
  await store.fresh()
  if (isRunningSomewhere(store, id)) return
  if (!(await removeTenantSecrets(id))) throw new Error(`the secrets of tenant ${id} could not be removed`)
  await freeNodeNames(store, id)
  const owned = store.list(tokens).filter(({ record }) => record.tenant === id)
  const last = owned.length <= TOKENS_AT_ONCE
  await store.transact((transaction) => {
    transaction.get(globally(tenants, id))
    for (const { record } of owned.slice(0, TOKENS_AT_ONCE)) transaction.delete(globally(tokens, record.id))
    if (last) transaction.deleteTenant(id)
    if (last) transaction.delete(globally(tenants, id))
    if (last) transaction.delete(globally(removals, id))
    return { kind: 'commit', result: undefined }
  })
}

/** Their controller stops what they run. */
async function markDeployments(store: Store, tenant: TenantId): Promise<void> {
  for (const { record } of store.list(deployments, tenant)) {
    if (record.deleting) continue
    await store.transact<void>((transaction) => {
      const address = inTenant(tenant, deployments, record.spec.name)
      const stored = transaction.get(address)
      if (stored === undefined || stored.deleting) return { kind: 'abort', result: undefined }
      transaction.put(address, { ...stored, deleting: true })
      return { kind: 'commit', result: undefined }
    })
  }
}

/** A machine that failed will confirm nothing; one that cannot be read about may run anything. */
function isRunningSomewhere(store: Store, tenant: TenantId): boolean {
  return store.keysOf(placements, tenant).some(({ id }) => {
    const assignments = store.get(inTenant(tenant, placements, id))?.record.assignments
    return assignments?.some(({ nodeId }) => mayAnswer(store, tenant, nodeId)) ?? true
  })
}

function mayAnswer(store: Store, tenant: TenantId, nodeId: NodeId): boolean {
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  return node !== undefined && node.status !== 'failed'
}
