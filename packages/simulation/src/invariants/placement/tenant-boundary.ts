// Invariant: placement never crosses the tenant boundary, neither in a record nor on a machine.

import { type Owner, ownerOf, type TenantId } from '@holdfast/contract'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { newAssignments, showPlaced } from './assigned.ts'

export const tenantBoundary: Invariant = {
  name: 'tenant-boundary',
  start() {
    const tenants = new Map<Owner, TenantId>()
    return function* (moment) {
      for (const { tenant, is } of moment.deployments.changed)
        if (tenant !== undefined && is !== undefined) tenants.set(ownerOf('deployment', is.uid), tenant)
      for (const { tenant, is } of moment.jobs.changed)
        if (tenant !== undefined && is !== undefined) tenants.set(ownerOf('job', is.id), tenant)
      yield* assignedElsewhere(moment)
      if (moment.machinesChanged) yield* runningElsewhere(moment, tenants)
    }
  },
}

function* assignedElsewhere(moment: Moment): Generator<Broken> {
  for (const placed of newAssignments(moment)) {
    const { tenant, assignment } = placed
    const { nodeId } = assignment
    if (moment.nodes.is(tenant, nodeId) ?? moment.nodes.was(tenant, nodeId)) continue
    yield { subject: showPlaced(placed), message: `is assigned to ${nodeId}, which is no node of its tenant` }
  }
}

function* runningElsewhere({ world }: Moment, tenants: ReadonlyMap<Owner, TenantId>): Generator<Broken> {
  for (const { name, tenant, containers } of world.machines)
    for (const { owner, assignmentId } of containers) {
      const own = tenants.get(owner)
      if (own !== tenant)
        yield {
          subject: name,
          message: `runs ${assignmentId} of tenant ${own ?? 'none'}, and is a machine of ${tenant}`,
        }
    }
}
