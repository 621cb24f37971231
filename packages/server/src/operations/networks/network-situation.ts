// The facts from which the next state of a network is decided, and whether networks keep a node from leaving its tenant.

import { capabilitiesOf, NETWORKS, type NodeId, type TenantId } from '@holdfast/contract'
import { mayBeOnNode, type NetworkSituation } from '@holdfast/core'
import { networkReports, networks, nodeNames, nodes, type StoredNetwork } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { type Address, globally, inTenant } from '../../store/transaction.ts'
import { claimOf } from '../nodes/claims.ts'

/** Reads one record: from the cache, or through a transaction that compares it at commit. */
export type ReadRecord = <T>(address: Address<T>) => T | undefined

export function networkSituation(
  read: ReadRecord,
  tenant: TenantId,
  { id, nodeId }: Pick<StoredNetwork, 'id' | 'nodeId'>,
): NetworkSituation {
  const node = read(inTenant(tenant, nodes, nodeId))
  const report = read(inTenant(tenant, networkReports, id))
  if (node === undefined) return { node, report }
  const claims = read(globally(nodeNames, node.name))?.claims ?? []
  const isLeaving = claimOf(claims, tenant)?.state === 'releasing'
  return { node: { isLeaving, isAble: capabilitiesOf(node.agent).includes(NETWORKS) }, report }
}

/**
 * Whether the node may have a network of the tenant. The cache must show the node as unschedulable: then it shows all
 * networks that were created on it, and later ones fail at commit. A network that cannot be read may be on any node.
 */
export const mayHaveNetworks = (
  store: Pick<Store, 'get' | 'keysOf'>,
  tenant: TenantId,
  nodeId: NodeId,
): boolean =>
  store.keysOf(networks, tenant).some(({ id }) => {
    const network = store.get(inTenant(tenant, networks, id))?.record
    if (network === undefined) return true
    if (network.nodeId !== nodeId) return false
    return mayBeOnNode(networkSituation((address) => store.get(address)?.record, tenant, network))
  })
