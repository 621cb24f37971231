// Reads nodes and their containers.

import {
  defined,
  type MachineContainer,
  type Node,
  type NodeReplica,
  type NodeSummary,
  type TenantId,
} from '@holdfast/contract'
import { nodeSince, reject } from '@holdfast/core'
import { nodes, type StoredNode } from '../../store/records.ts'
import { done, type Outcome, refusedBy } from '../caller.ts'
import { jobBlockers } from '../jobs/jobs-on-node.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'
import { isListed, type ListQuery, rankOf, sortKey } from '../short-list.ts'
import { drainBlockers } from '../volumes/volume-group.ts'
import type { NodeDeps } from './deps.ts'
import { isDraining } from './drain-node.ts'
import { findNode, nodeNotFound } from './find-node.ts'
import { gatherLoads, type HeardDeps, lastHeardAt, NO_LOAD, type NodeLoad, replicasOn } from './node-load.ts'
import { claimsOf, nodeView } from './node-view.ts'

export interface ReadNode {
  readonly node: Node
  readonly etag: string
}

/** The dependencies of reads, which explain a drain that waits and when a node was last heard. */
export type ReadNodeDeps = Pick<NodeDeps, 'store' | 'clock' | 'residency'> & HeardDeps

export async function getNode(deps: ReadNodeDeps, tenant: TenantId, id: string): Promise<Outcome<ReadNode>> {
  const { store } = deps
  await store.fresh()
  const found = findNode(store, tenant, id)
  if (found === undefined) return nodeNotFound(id)
  const { record, modRevision } = found
  const loads = gatherLoads(store, tenant)
  return done({ node: viewOf(deps, tenant, record, loads.get(record.id)), etag: String(modRevision) })
}

export async function listNodes(
  deps: ReadNodeDeps,
  tenant: TenantId,
  query: ListQuery,
): Promise<Outcome<Page<Node>>> {
  const page = await pageOfNodes(deps, tenant, query)
  const loads = gatherLoads(deps.store, tenant)
  return mapPage(page, (node) => viewOf(deps, tenant, node, loads.get(node.id)))
}

const WORST_FIRST = ['failed', 'unreachable', 'degraded', 'pending']

function pageOfNodes({ store }: ReadNodeDeps, tenant: TenantId, query: ListQuery) {
  const sortable = (node: StoredNode) => {
    const { name, status } = nodeView(node, tenant, [])
    return { name, phase: status, rank: rankOf(status, WORST_FIRST), changedAt: node.statusSince }
  }
  const find = () =>
    store
      .list(nodes, tenant)
      .map(({ record }) => record)
      .filter((node) => isListed(sortable(node), query))
  return listPage(store, query, find, (node) => sortKey(sortable(node), query))
}

/** GET /nodes?view=summary: the facts of each node that a table shows. */
export async function listNodeSummaries(
  deps: ReadNodeDeps,
  tenant: TenantId,
  query: ListQuery,
): Promise<Outcome<Page<NodeSummary>>> {
  const page = await pageOfNodes(deps, tenant, query)
  const loads = gatherLoads(deps.store, tenant)
  return mapPage(page, (node) => {
    const { id, name, status, schedulable, controlPlane, capacity, ...view } = nodeView(node, tenant, [])
    const { reason, draining, agentVersion, agentOutdated } = view
    return {
      ...{ id, name, status, schedulable, controlPlane, capacity, ...(loads.get(id) ?? NO_LOAD) },
      ...defined({ reason, draining, agentVersion, agentOutdated }),
      country: node.attested.country ?? null,
      engineVersion: node.engine.version,
      since: nodeSince(node),
      lastHeardAt: lastHeardAt(deps, node),
    }
  })
}

/** GET /nodes/{id}/replicas: the replicas of deployments and jobs on a node, by name. */
export async function listNodeReplicas(
  { store }: Pick<ReadNodeDeps, 'store'>,
  tenant: TenantId,
  id: string,
  request: PageRequest,
): Promise<Outcome<Page<NodeReplica>>> {
  await store.fresh()
  const found = findNode(store, tenant, id)
  if (found === undefined) return nodeNotFound(id)
  const key = ({ kind, name, replica, assignmentId }: NodeReplica) =>
    `${kind}/${name}/${String(replica).padStart(6, '0')}/${assignmentId}`
  return listPage(store, request, () => replicasOn(store, tenant, found.record.id), key)
}

function viewOf(
  deps: ReadNodeDeps,
  tenant: TenantId,
  node: StoredNode,
  { requested }: NodeLoad = NO_LOAD,
): Node {
  const { store, clock, residency } = deps
  const claims = claimsOf(store, node.name)
  const { modRevision: revision } = findNode(store, tenant, node.id) ?? {}
  const heard = { since: nodeSince(node), lastHeardAt: lastHeardAt(deps, node), ...defined({ revision }) }
  const view = { ...nodeView(node, tenant, claims), requested, ...heard }
  const isReleasing = claims.some((claim) => claim.tenant === tenant && claim.state === 'releasing')
  if (!isDraining(node) && !isReleasing) return view
  const drainBlockedBy = [
    ...jobBlockers(store, tenant, node.id),
    ...drainBlockers({ store, residency, now: clock.now() }, tenant, node.id),
  ]
  return drainBlockedBy.length === 0 ? view : { ...view, drainBlockedBy }
}

/** Lists the containers of a node. Rejects the request if the node is unreachable, because its containers are unknown. */
export async function listContainers(
  { store, callNode }: Pick<NodeDeps, 'store' | 'callNode'>,
  tenant: TenantId,
  id: string,
): Promise<Outcome<{ items: readonly MachineContainer[] }>> {
  await store.fresh()
  const found = findNode(store, tenant, id)
  if (found === undefined) return nodeNotFound(id)
  const { record } = found
  const containers = await callNode(tenant, record.id)
  if (containers === 'unreachable') {
    const rejection = reject('job_node_candidates_unresolvable', 'id', id)
    return refusedBy({ rejections: [rejection], alternative: true })
  }
  // While two tenants claim the machine, each tenant sees only the containers of its own deployments.
  const isShared = claimsOf(store, record.name).length > 1
  return done({ items: isShared ? containers.filter(({ ours }) => ours) : containers })
}
