// Reads nodes and their containers.

import type { MachineContainer, Node, TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { nodes, type StoredNode } from '../../store/records.ts'
import { done, type Outcome, refusedBy } from '../caller.ts'
import { jobBlockers } from '../jobs/jobs-on-node.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'
import { drainBlockers } from '../volumes/volume-group.ts'
import type { NodeDeps } from './deps.ts'
import { isDraining } from './drain-node.ts'
import { findNode, nodeNotFound } from './find-node.ts'
import { claimsOf, nodeView } from './node-view.ts'

export interface ReadNode {
  readonly node: Node
  readonly etag: string
}

/** The dependencies of reads, which explain a drain that waits. */
export type ReadNodeDeps = Pick<NodeDeps, 'store' | 'clock' | 'residency'>

export async function getNode(deps: ReadNodeDeps, tenant: TenantId, id: string): Promise<Outcome<ReadNode>> {
  const { store } = deps
  await store.fresh()
  const found = findNode(store, tenant, id)
  if (found === undefined) return nodeNotFound(id)
  const { record, modRevision } = found
  return done({ node: viewOf(deps, tenant, record), etag: String(modRevision) })
}

export async function listNodes(
  deps: ReadNodeDeps,
  tenant: TenantId,
  request: PageRequest,
): Promise<Outcome<Page<Node>>> {
  const { store } = deps
  const stored = () => store.list(nodes, tenant).map(({ record }) => record)
  const page = await listPage(store, request, stored, ({ name }) => name)
  return mapPage(page, (node) => viewOf(deps, tenant, node))
}

function viewOf({ store, clock, residency }: ReadNodeDeps, tenant: TenantId, node: StoredNode): Node {
  const claims = claimsOf(store, node.name)
  const view = nodeView(node, tenant, claims)
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
