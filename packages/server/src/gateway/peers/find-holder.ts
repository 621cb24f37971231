// Finds the server replica, other than this one, that holds a node's socket.

import { nodes, serverReplicas } from '../../store/records.ts'
import { globally, inTenant } from '../../store/transaction.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'

/** The URL of the other server replica that holds the node's socket; undefined if there is none. */
export function findHolder(
  { store, replica }: Pick<GatewayContext, 'store' | 'replica'>,
  { tenant, nodeId }: NodeAddress,
): string | undefined {
  const holder = store.get(inTenant(tenant, nodes, nodeId))?.record.session.replica ?? null
  if (holder === null || holder === replica) return undefined
  return store.get(globally(serverReplicas, holder))?.record.url
}
