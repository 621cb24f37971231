// Finds the assignments that appeared, disappeared or changed between two moments of a simulation.

import {
  type Assignment,
  type AssignmentId,
  type DeploymentSpec,
  decode,
  deploymentSpecShape,
  deploymentUidOf,
  type TenantId,
} from '@holdfast/contract'
import type { StoredDeployment, StoredPlacement } from '@holdfast/server/store/records'
import type { Moment } from '../moment.ts'

export interface Placed {
  readonly tenant: TenantId
  readonly placement: StoredPlacement
  readonly assignment: Assignment
}

export function* newAssignments({ placements }: Moment): Generator<Placed> {
  for (const { tenant, was, is } of placements.changed) {
    if (tenant === undefined || is === undefined) continue
    const known = new Set(was?.assignments.map(({ id }) => id))
    for (const assignment of is.assignments)
      if (!known.has(assignment.id)) yield { tenant, placement: is, assignment }
  }
}

export function* goneAssignments({ placements }: Moment): Generator<Placed> {
  for (const { tenant, was, is } of placements.changed) {
    if (tenant === undefined || was === undefined) continue
    const left = new Set(is?.assignments.map(({ id }) => id))
    for (const assignment of was.assignments)
      if (!left.has(assignment.id)) yield { tenant, placement: was, assignment }
  }
}

interface Moved extends Placed {
  readonly was: Assignment
}

/** Assignments that existed before and after the change of their placement record. */
export function* keptAssignments({ placements }: Moment): Generator<Moved> {
  for (const { tenant, was: old, is } of placements.changed) {
    if (tenant === undefined || old === undefined || is === undefined) continue
    const before = new Map<AssignmentId, Assignment>(old.assignments.map((each) => [each.id, each]))
    for (const assignment of is.assignments) {
      const was = before.get(assignment.id)
      if (was !== undefined) yield { tenant, placement: is, assignment, was }
    }
  }
}

/** The deployment of a placement, matched by uid, because a newer deployment may have the same name. */
export function deploymentOf(moment: Moment, { tenant, placement }: Pick<Placed, 'tenant' | 'placement'>) {
  const uid = deploymentUidOf(placement.owner)
  const isOwn = (stored: StoredDeployment | undefined) => uid !== undefined && stored?.uid === uid
  const now = moment.deployments.is(tenant, placement.name)
  const before = moment.deployments.was(tenant, placement.name)
  return isOwn(now) ? now : isOwn(before) ? before : undefined
}

export const isMarked = ({ canary }: Pick<Assignment, 'canary'>): boolean => canary === true

/** The assignments of a placement without those of a canary. */
export const ownAssignments = (placement: StoredPlacement | undefined): Assignment[] =>
  (placement?.assignments ?? []).filter((each) => !isMarked(each))

/** The spec of a replica: that of the deployment, and for a replica of its canary the same with the changed fields. */
export function specOf(
  { spec, canary }: Pick<StoredDeployment, 'spec' | 'canary'>,
  replica: Pick<Assignment, 'canary'>,
): DeploymentSpec {
  if (canary === undefined || !isMarked(replica)) return spec
  const fields = Object.entries({ ...spec, ...canary.change })
  return decode(deploymentSpecShape, Object.fromEntries(fields.filter(([, value]) => value !== null)))
}

/** The canary of a deployment as long as it is neither promoted nor aborted. */
export const activeCanary = (stored: Pick<StoredDeployment, 'canary' | 'deleting'> | undefined) =>
  stored?.deleting === true || stored?.canary?.phase === 'aborted' ? undefined : stored?.canary

export const showPlaced = ({ placement, assignment }: Pick<Placed, 'placement' | 'assignment'>): string =>
  `${placement.name}, ${isMarked(assignment) ? 'canary ' : ''}replica ${assignment.replica} (${assignment.id})`
