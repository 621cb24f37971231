// Checks whether the tenant may use the node that a deployment names in `nodeId`, if the request sends that field. The
// node's record is read through the transaction, so a concurrent removal of the node reruns the decision.

import { isNodeId, type TenantId } from '@holdfast/contract'
import { type NodeFact, reject } from '@holdfast/core'
import { nodes, tenants } from '../../../store/records.ts'
import { type Store, StoreUnavailableError } from '../../../store/store.ts'
import { globally, inTenant, type Transaction, UnreadableRecordError } from '../../../store/transaction.ts'
import { type Refused, refusedBy } from '../../caller.ts'

export function gatherNode(
  store: Pick<Store, 'keysOf'>,
  transaction: Transaction,
  tenant: TenantId,
  nodeId: string | undefined,
): { readonly node?: NodeFact } {
  if (nodeId === undefined) return {}
  try {
    return { node: { answer: answerFor(store, transaction, tenant, nodeId) } }
  } catch (error) {
    if (error instanceof UnreadableRecordError) return { node: { answer: 'unreadable' } }
    throw error
  }
}

function answerFor(
  store: Pick<Store, 'keysOf'>,
  transaction: Transaction,
  tenant: TenantId,
  nodeId: string,
): NodeFact['answer'] {
  const node = isNodeId(nodeId) ? transaction.get(inTenant(tenant, nodes, nodeId)) : undefined
  if (node === undefined) return store.keysOf(nodes, tenant).length === 0 ? 'none_enrolled' : 'unknown'
  // Control-plane nodes run only deployments of the platform tenant.
  const isPlatform = transaction.get(globally(tenants, tenant))?.platform === true
  return node.controlPlane && !isPlatform ? 'control_plane' : 'candidate'
}

/** If the nodes cannot be read, rejects the write with a specific code instead of `store_unavailable`. */
export async function checkNodesReadable(
  { store }: { readonly store: Pick<Store, 'fresh'> },
  nodeId: string | undefined,
): Promise<Refused | undefined> {
  if (nodeId === undefined) return undefined
  try {
    await store.fresh()
    return undefined
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    const rejection = reject('node_candidates_unresolvable', 'nodeId', nodeId)
    return refusedBy({ rejections: [rejection], alternative: true })
  }
}
