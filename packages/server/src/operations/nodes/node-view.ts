// A stored node as its tenant sees it. Another tenant's claim is shown without its owner.

import type { Node, TenantId } from '@holdfast/contract'
import { nodeNames, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import type { Claim } from './claims.ts'

export function nodeView(node: StoredNode, tenant: TenantId, claims: readonly Claim[]): Node {
  const { id, name, status, schedulable, draining, controlPlane, labels, capacity, engine } = node
  return {
    id,
    name,
    status,
    schedulable,
    controlPlane,
    labels,
    capacity,
    engine,
    ...(draining === true ? { draining } : {}),
    claims: claims.map((claim) => ({ own: claim.tenant === tenant, state: claim.state })),
  }
}

/** Reads the cache, which may lag. */
export function claimsOf(store: Pick<Store, 'get'>, nodeName: string): readonly Claim[] {
  return store.get(globally(nodeNames, nodeName))?.record.claims ?? []
}
