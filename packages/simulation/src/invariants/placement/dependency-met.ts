// Does a deployment satisfy the condition of a deployment that depends on it? This is a second implementation,
// independent of the controller, so that the two can be compared.

import { type DeploymentSpec, ownerOf, type TenantId } from '@holdfast/contract'
import type { StoredObservation } from '@holdfast/server/store/records'
import type { Moment } from '../moment.ts'
import { isFailed } from '../nodes/is-failed.ts'
import { ownAssignments } from './assigned.ts'
import { replicasOf } from './replicas-of.ts'

export type Condition = NonNullable<DeploymentSpec['dependsOn']>[string]

/** True if the deployment has at least one desired replica and all are ready. Replicas on failed nodes are not ready. */
export function isMet(moment: Moment, tenant: TenantId, name: string, condition: Condition): boolean {
  const other = moment.deployments.is(tenant, name)
  if (other === undefined || other.deleting || other.spec.replicas === 0) return false
  const replicas = replicasOf(other)
  const assignments = ownAssignments(moment.placements.is(tenant, ownerOf('deployment', other.uid)))
  const fit = assignments.filter(
    ({ id, nodeId, replica, desired }) =>
      desired === 'running' &&
      replica <= replicas &&
      !isFailed(moment.nodes.is(tenant, nodeId)) &&
      isAs(condition, moment.observations.is(tenant, id)),
  )
  return new Set(fit.map(({ replica }) => replica)).size === replicas
}

function isAs(condition: Condition, seen: StoredObservation | undefined): boolean {
  if (seen?.state === 'ready') return condition === 'started' || seen.reason === ''
  return seen?.state === 'running' && condition === 'started'
}
