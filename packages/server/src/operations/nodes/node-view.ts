// A stored node as its tenant sees it. If another tenant also claims the machine, that tenant's identity is not shown.

import { defined, type Node, type TenantId, VERSION } from '@holdfast/contract'
import { faultsOf, isOlder } from '@holdfast/core'
import { nodeNames, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import type { Claim } from './claims.ts'

export function nodeView(node: StoredNode, tenant: TenantId, claims: readonly Claim[]): Node {
  const {
    id,
    name,
    status,
    schedulable,
    draining,
    controlPlane,
    labels,
    capacity,
    engine,
    storage,
    disks,
    hold,
    agent,
  } = node
  const faults = faultsOf(node)
  return {
    id,
    name,
    status: faults.length === 0 ? status : 'degraded',
    schedulable,
    controlPlane,
    labels,
    capacity,
    engine,
    ...defined({ reason: faults[0]?.reason, storage, disks, hold, agentVersion: agent?.version }),
    ...(faults.length === 0 ? {} : { faults: [...faults] }),
    ...(draining === true ? { draining } : {}),
    ...(agent !== undefined && isOlder(agent.version, VERSION) ? { agentOutdated: true } : {}),
    claims: claims.map((claim) => ({ own: claim.tenant === tenant, state: claim.state })),
  }
}

/** Which tenants have registered a node under this name, according to the cache, which may lag behind the store. */
export function claimsOf(store: Pick<Store, 'get'>, nodeName: string): readonly Claim[] {
  return store.get(globally(nodeNames, nodeName))?.record.claims ?? []
}
