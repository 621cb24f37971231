// Finds the assignment for which a node requests secret values. The broker does not trust the request: it reads the
// records itself and checks that the assignment belongs to the node and should be running.

import type { ContainerTemplate } from '@holdfast/contract'
import type { Assigned } from '../ports/broker.ts'
import { findAdmitted } from '../scheduling/find-admitted.ts'
import { nodes, type StoredNode } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant, placementAt } from '../store/transaction.ts'

export interface LiveAssignment {
  readonly template: ContainerTemplate
  readonly node: StoredNode
}

/** Looks up the assignment in the cache. Before secret values are returned, the lookup is repeated on a fresh cache. */
export function findLive(
  store: Pick<Store, 'get'>,
  { tenant, nodeId, owner, assignmentId }: Assigned,
): LiveAssignment | undefined {
  const placement = store.get(placementAt(tenant, owner))?.record
  const assignment = placement?.assignments.find(({ id }) => id === assignmentId)
  if (placement === undefined || assignment?.nodeId !== nodeId || assignment.desired !== 'running')
    return undefined
  // A placement under the key of another owner is damaged, and its owner is not known.
  const admitted = placement.owner === owner ? findAdmitted(store, tenant, placement) : undefined
  if (admitted === undefined || admitted.deleting) return undefined
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  const template = placement.templates[assignment.templateHash]
  return node === undefined || template === undefined ? undefined : { template, node }
}
