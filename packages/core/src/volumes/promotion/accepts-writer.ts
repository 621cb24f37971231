// Whether a node with copies may become that of the primaries, as far as the workload that writes them decides it.

import type { NodeId } from '@holdfast/contract'
import { firstRefusal } from '../../scheduling/check-candidates.ts'
import type { TenantFacts, Workload } from '../../scheduling/facts.ts'
import { PLACEMENT_FILTERS } from '../../scheduling/filters/index.ts'

/** Whether every filter of the scheduler would accept the workload on the node, once the node has its volumes. */
export function acceptsWriter(workload: Workload, nodeId: NodeId, facts: TenantFacts): boolean {
  const node = facts.nodes.find(({ id }) => id === nodeId)
  const volumes = workload.volumes?.map((volume) => ({ ...volume, primary: nodeId, isMoving: false }))
  return (
    node !== undefined && firstRefusal(PLACEMENT_FILTERS, { ...workload, volumes }, node, facts) === undefined
  )
}
