// Reads nodes and their containers. Another tenant's node and a missing one get the same answer.

import { isNodeId, type MachineContainer, type Node, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { CachedRecord } from '../../store/cache/record-index.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { done, type Outcome, refused, refusedBy } from '../caller.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'
import type { NodeDeps } from './deps.ts'
import { claimsOf, nodeView } from './node-view.ts'

export const nodeNotFound = (id: string) => refused(reject('node_not_found', 'id', id))

export function findNode(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  id: string,
): CachedRecord<StoredNode> | undefined {
  return isNodeId(id) ? store.get(inTenant(tenant, nodes, id)) : undefined
}

export interface ReadNode {
  readonly node: Node
  readonly etag: string
}

export async function getNode(store: Store, tenant: TenantId, id: string): Promise<Outcome<ReadNode>> {
  await store.fresh()
  const found = findNode(store, tenant, id)
  if (found === undefined) return nodeNotFound(id)
  const { record, modRevision } = found
  return done({ node: nodeView(record, tenant, claimsOf(store, record.name)), etag: String(modRevision) })
}

export async function listNodes(
  store: Store,
  tenant: TenantId,
  request: PageRequest,
): Promise<Outcome<Page<Node>>> {
  const stored = () => store.list(nodes, tenant).map(({ record }) => record)
  const page = await listPage(store, request, stored, ({ name }) => name)
  return mapPage(page, (node) => nodeView(node, tenant, claimsOf(store, node.name)))
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
