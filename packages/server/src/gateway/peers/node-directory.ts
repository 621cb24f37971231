// Whose node is it? A hello names a node and no tenant; the record decides.

import { asNodeId, type NodeId, type TenantId } from '@holdfast/contract'
import type { Change } from '../../store/cache/record-index.ts'
import { nodes, tenants } from '../../store/records.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'

export interface NodeDirectory {
  tenantOf(nodeId: NodeId): TenantId | undefined
  /** The nodes whose records the changes touch, after the directory took them up. */
  apply(changes: readonly Change[]): NodeAddress[]
}

export function createNodeDirectory(store: Pick<GatewayDeps['store'], 'list' | 'keysOf'>): NodeDirectory {
  const owners = new Map<string, TenantId>()
  for (const { record } of store.list(tenants))
    for (const { id } of store.keysOf(nodes, record.id)) owners.set(id, record.id)
  return {
    tenantOf: (nodeId) => owners.get(nodeId),
    apply(changes) {
      const touched: NodeAddress[] = []
      for (const { kind, key } of changes) {
        if (key.folder !== nodes.folder || key.tenant === undefined) continue
        if (kind === 'put') owners.set(key.id, key.tenant)
        else owners.delete(key.id)
        touched.push({ tenant: key.tenant, nodeId: asNodeId(key.id) })
      }
      return touched
    },
  }
}
