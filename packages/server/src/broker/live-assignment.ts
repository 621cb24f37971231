// Is what a node asks for really its own, now? The broker believes nobody: it looks at the records itself. SAFETY 2 rows 25
// and 26, DECISIONS 8.

import type { ContainerTemplate } from '@holdfast/contract'
import type { Assigned } from '../ports/broker.ts'
import { deployments, nodes, placements, type StoredNode } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant } from '../store/transaction.ts'

export interface LiveAssignment {
  readonly template: ContainerTemplate
  readonly node: StoredNode
}

/** As the cache has it; who hands something out looks again after `fresh`. */
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
