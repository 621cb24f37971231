// Finds the containers of an owner whose logs can be read, including ended containers that still exist.

import type { AssignmentId, NodeId, Owner, TenantId } from '@holdfast/contract'
import { nodes, observations } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'

export interface LogTarget {
  readonly tenant: TenantId
  readonly assignmentId: AssignmentId
  readonly nodeId: NodeId
  readonly node: string
  readonly replica: number
  /** Identifies one start of the container; null if the replica has no container yet. */
  readonly run: string | null
}

export function logTargets(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  owner: Owner,
  replica: number | undefined,
): LogTarget[] {
  const assignments = store.get(placementAt(tenant, owner))?.record.assignments ?? []
  return assignments.flatMap(({ id, nodeId, replica: number }) => {
    const seen = store.get(inTenant(tenant, observations, id))?.record
    if (seen?.gone === true || (replica !== undefined && replica !== number)) return []
    const node = store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId
    const run = seen?.containerId == null ? null : `${seen.containerId} ${seen.startedAt}`
    return [{ tenant, assignmentId: id, nodeId, node, replica: number, run }]
  })
}
