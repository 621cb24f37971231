// Finishes deletions. A deployment marked for deletion is removed once none of its containers is left, with its archive,
// decisions, routes, credential references and quota slot; a marked tenant is removed with all its resources. Each
// removal is one transaction that compares the records it read, so several server replicas may run this loop at the same
// time.

import { asOwner, type NodeId, ownerOf, type TenantId } from '@holdfast/contract'
import { claimedSpec } from '../operations/deployments/canary/end-canary.ts'
import { releaseRoutes } from '../operations/deployments/write/claim-routes.ts'
import { dropClaims, startReleases } from '../operations/deployments/write/claim-volumes.ts'
import { cancelJobs } from '../operations/jobs/cancel-job.ts'
import {
  markDeleting as markNetwork,
  stageDeleting as stageNetwork,
} from '../operations/networks/delete-network.ts'
import { freeNodeNames } from '../operations/nodes/clean-up-nodes.ts'
import { isPoolEmpty, markPool, poolAfter } from '../operations/nodes/pools.ts'
import { recordEvent } from '../operations/record-write.ts'
import { releaseCredentials } from '../operations/secrets/versions/claim-credentials.ts'
import { releaseTenantName } from '../operations/tenants/tenant-names.ts'
import { holdersOf, markDeleting, stageDeleting } from '../operations/volumes/delete-volume.ts'
import { type Clock, timestamp } from '../ports/clock.ts'
import { freeSlot } from '../quotas/hold-slot.ts'
import {
  archive,
  decisionParts,
  decisions,
  deployments,
  networks,
  nodes,
  placements,
  pools,
  removals,
  tenants,
  tokens,
  volumes,
} from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant, placementAt } from '../store/transaction.ts'

export interface RemovalDeps {
  readonly store: Store
  readonly clock: Clock
  removeTenantSecrets(tenant: TenantId): Promise<boolean>
}

/** Number of tokens deleted per transaction; the next run deletes the tenant's remaining tokens. */
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
  // A failed removal does not block other removals and is retried at the next run.
  if (failures.length === 1) throw new AggregateError(failures, '1 removal failed')
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} removals failed`)
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
    // The controller removes each assignment from the placement once the agent has confirmed that its container is gone.
    const owner = ownerOf('deployment', stored.uid)
    const placement = placementAt(tenant, owner)
    const left = transaction.get(placement)
    if (left !== undefined && left.assignments.length > 0) return { kind: 'abort', result: undefined }
    if (left !== undefined) transaction.delete(placement)
    transaction.delete(address)
    releaseRoutes(transaction, tenant, stored)
    dropClaims(store, transaction, tenant, owner)
    releaseCredentials(transaction, tenant, claimedSpec(stored))
    freeSlot(transaction, tenant, 'deployments', stored.slot)
    transaction.deleteWithin(tenant, archive, name)
    transaction.deleteWithin(tenant, decisions, owner)
    transaction.deleteWithin(tenant, decisionParts, owner)
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

/** Removes a tenant: containers first, then networks, volumes and secrets, the tenant's record last, so that a failed removal is retried. */
async function removeTenant({ store, clock, removeTenantSecrets }: RemovalDeps, id: TenantId): Promise<void> {
  await markDeployments(store, id)
  await cancelJobs(store, id)
  if (isRunningSomewhere(store, id)) return
  // The cache may lack a replica that was placed just before its deployment was marked, so the cache is refreshed first.
  await store.fresh()
  if (isRunningSomewhere(store, id)) return
  await markNetworks({ store, clock }, id)
  await markVolumes({ store, clock }, id)
  if (isConnectedSomewhere(store, id) || isStoredSomewhere(store, id) || isPoolFilled(store, id)) return
  await markPools({ store, clock }, id)
  if (!(await removeTenantSecrets(id))) throw new Error(`secrets of tenant ${id} could not be removed`)
  await freeNodeNames(store, id)
  const owned = store.list(tokens).filter(({ record }) => record.tenant === id)
  const last = owned.length <= TOKENS_AT_ONCE
  await store.transact((transaction) => {
    const name = transaction.get(globally(tenants, id))?.name
    for (const { record } of owned.slice(0, TOKENS_AT_ONCE)) transaction.delete(globally(tokens, record.id))
    if (last) transaction.deleteTenant(id)
    if (last && name !== undefined) releaseTenantName(transaction, name, id)
    if (last) transaction.delete(globally(tenants, id))
    if (last) transaction.delete(globally(removals, id))
    return { kind: 'commit', result: undefined }
  })
}

/** Marks all deployments of the tenant for deletion; the deployment controller stops the containers. */
export async function markDeployments(store: Store, tenant: TenantId): Promise<void> {
  for (const { record } of store.list(deployments, tenant)) {
    if (record.deleting) continue
    await store.transact<void>((transaction) => {
      const address = inTenant(tenant, deployments, record.spec.name)
      const stored = transaction.get(address)
      if (stored === undefined || stored.deleting) return { kind: 'abort', result: undefined }
      startReleases(transaction, tenant, stored)
      transaction.put(address, { ...stored, deleting: true })
      return { kind: 'commit', result: undefined }
    })
  }
}

/** Marks all networks of the tenant for deletion; the agents remove them. */
async function markNetworks(
  { store, clock }: Pick<RemovalDeps, 'store' | 'clock'>,
  tenant: TenantId,
): Promise<void> {
  for (const { record } of store.list(networks, tenant)) {
    if (record.phase === 'Deleting') continue
    await store.transact<void>((transaction) => {
      const stored = transaction.get(inTenant(tenant, networks, record.id))
      if (stored === undefined || stored.phase === 'Deleting') return { kind: 'abort', result: undefined }
      stageNetwork(transaction, clock, tenant, markNetwork(stored))
      return { kind: 'commit', result: undefined }
    })
  }
}

/** Whether a node may still have a network of the tenant. Failed nodes are ignored, because they confirm no removal. */
function isConnectedSomewhere(store: Store, tenant: TenantId): boolean {
  return store.keysOf(networks, tenant).some(({ id }) => {
    const network = store.get(inTenant(tenant, networks, id))?.record
    return network === undefined || mayStillRun(store, tenant, network.nodeId)
  })
}

/** Marks all volumes of the tenant for deletion; the agents delete their data. */
async function markVolumes(
  { store, clock }: Pick<RemovalDeps, 'store' | 'clock'>,
  tenant: TenantId,
): Promise<void> {
  for (const { record } of store.list(volumes, tenant)) {
    if (record.phase === 'Deleting') continue
    await store.transact<void>((transaction) => {
      const stored = transaction.get(inTenant(tenant, volumes, record.id))
      if (stored === undefined || stored.phase === 'Deleting') return { kind: 'abort', result: undefined }
      const holders = holdersOf(store, tenant, stored.id)
      stageDeleting(transaction, clock, tenant, markDeleting(stored, timestamp(clock), holders))
      return { kind: 'commit', result: undefined }
    })
  }
}

/** Whether a node may still have data of the tenant. Failed nodes are ignored, because they confirm no deletion. */
function isStoredSomewhere(store: Store, tenant: TenantId): boolean {
  return store.keysOf(volumes, tenant).some(({ id }) => {
    const volume = store.get(inTenant(tenant, volumes, id))?.record
    const holders = volume && [...volume.copies, ...(volume.leaving ?? [])]
    return holders?.some(({ nodeId }) => mayStillRun(store, tenant, nodeId)) ?? true
  })
}

/** Whether an agent has not yet confirmed that its pool is empty. Failed nodes are ignored, because they confirm nothing. */
function isPoolFilled(store: Store, tenant: TenantId): boolean {
  return store.keysOf(nodes, tenant).some(({ id }) => {
    const node = store.get(inTenant(tenant, nodes, id))?.record
    if (node === undefined) return true
    return node.status !== 'failed' && !isPoolEmpty(node, store.get(inTenant(tenant, pools, id))?.record)
  })
}

/** Marks the pools of nodes that have not confirmed it, so that another tenant's agent deletes the data before it uses them. */
async function markPools(
  { store, clock }: Pick<RemovalDeps, 'store' | 'clock'>,
  tenant: TenantId,
): Promise<void> {
  for (const { record: node } of store.list(nodes, tenant))
    await store.transact<void>((transaction) => {
      const pool = transaction.get(inTenant(tenant, pools, node.id))
      if (poolAfter(node, pool) !== 'unknown') return { kind: 'abort', result: undefined }
      markPool(store, transaction, clock, tenant, node)
      return { kind: 'commit', result: undefined }
    })
}

/** Whether a container of the tenant may still run. Failed nodes are ignored, because they confirm no removal. */
function isRunningSomewhere(store: Store, tenant: TenantId): boolean {
  return store.keysOf(placements, tenant).some(({ id }) => {
    const assignments = store.get(placementAt(tenant, asOwner(id)))?.record.assignments
    return assignments?.some(({ nodeId }) => mayStillRun(store, tenant, nodeId)) ?? true
  })
}

function mayStillRun(store: Store, tenant: TenantId, nodeId: NodeId): boolean {
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  return node !== undefined && node.status !== 'failed'
}
