// A stored node as its tenant reads it. DECISIONS 2: of the other claim it shows that there is one, never whose.

import type { Node, TenantId } from '@holdfast/contract'
import { nodeNames, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import type { Claim } from './claims.ts'

export function nodeView(node: StoredNode, tenant: TenantId, claims: readonly Claim[]): Node {
  const { id, name, status, schedulable, draining, controlPlane, labels, capacity, engine } = node
  return {
    ...{ id, name, status, schedulable, controlPlane, labels, capacity, engine },
    ...(draining === true ? { draining } : {}),
    claims: claims.map((claim) => ({ own: claim.tenant === tenant, state: claim.state })),
  }
}

/** From the cache as it is. */
export function claimsOf(store: Pick<Store, 'get'>, nodeName: string): readonly Claim[] {
  return store.get(globally(nodeNames, nodeName))?.record.claims ?? []
}
