// Finds the assignment for which a node requests secret values. The broker does not trust the request: it reads the
// records itself and checks that the assignment belongs to the node and should be running.

import type { ContainerTemplate } from '@holdfast/contract'
import type { Assigned } from '../ports/broker.ts'
import { deployments, nodes, placements, type StoredNode } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant } from '../store/transaction.ts'

export interface LiveAssignment {
  readonly template: ContainerTemplate
  readonly node: StoredNode
}

/** Looks up the assignment in the cache. Before secret values are returned, the lookup is repeated on a fresh cache. */
export function findLive(
  store: Pick<Store, 'get'>,
  { tenant, nodeId, deployment, assignmentId }: Assigned,
): LiveAssignment | undefined {
  const placement = store.get(inTenant(tenant, placements, deployment))?.record
  const assignment = placement?.assignments.find(({ id }) => id === assignmentId)
  if (placement === undefined || assignment?.nodeId !== nodeId || assignment.desired !== 'running')
    return undefined
  const admitted = store.get(inTenant(tenant, deployments, placement.name))?.record
  if (admitted?.uid !== placement.uid || admitted.deleting) return undefined
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record
  const template = placement.templates[assignment.templateHash]
  return node === undefined || template === undefined ? undefined : { template, node }
}
