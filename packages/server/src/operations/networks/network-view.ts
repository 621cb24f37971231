// A stored network as its tenant sees it, with the name of its node and the workloads that use it.

import type { Network, TenantId } from '@holdfast/contract'
import { nodes, type StoredNetwork } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { namesOfUsers } from './network-users.ts'

export function networkView(
  store: Pick<Store, 'get' | 'list' | 'keysOf'>,
  tenant: TenantId,
  stored: StoredNetwork,
): Network {
  const { id, options, nodeId, phase, reason, createdAt, revision } = stored
  const { name, driver, labels, internal } = options
  return {
    id,
    name,
    driver,
    labels,
    internal,
    nodeId,
    nodeName: store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? stored.nodeName,
    phase,
    reason,
    attached: namesOfUsers(store, tenant, name),
    createdAt,
    revision,
  }
}
