// Finds a node by its id. Another tenant's node and a missing one get the same answer.

import { isNodeId, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { CachedRecord } from '../../store/cache/record-index.ts'
import { nodes, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { refused } from '../caller.ts'

export const nodeNotFound = (id: string) => refused(reject('node_not_found', 'id', id))

export function findNode(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  id: string,
): CachedRecord<StoredNode> | undefined {
  return isNodeId(id) ? store.get(inTenant(tenant, nodes, id)) : undefined
}
