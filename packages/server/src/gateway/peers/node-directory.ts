// Finds the tenant that owns a node. A hello contains only a node id, so the tenant comes from the node's record.

import { asNodeId, type NodeId, type TenantId } from '@holdfast/contract'
import type { Change } from '../../store/cache/record-index.ts'
import { nodes, tenants } from '../../store/records.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'

export interface NodeDirectory {
  tenantOf(nodeId: NodeId): TenantId | undefined
  /** Updates the directory with changed records, and returns the nodes whose records changed. */
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
