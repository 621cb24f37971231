// Invariant: a promotion adopts the replicas of its canary. The placement of the new revision has them with its revision and
// without their mark, and their containers are not created again. Replicas of other canaries are not adopted.

import { type Assignment, type AssignmentId, type DeploymentUid, deploymentUidOf } from '@holdfast/contract'
import type { StoredPlacement } from '@holdfast/server/store/records'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import {
  activeCanary,
  deploymentOf,
  isMarked,
  keptAssignments,
  type Placed,
  showPlaced,
} from '../placement/assigned.ts'
import { replicasOf } from '../placement/replicas-of.ts'
import { mustLeave } from './beside.ts'

interface Promoted {
  readonly revision: number
  readonly replicas: readonly Placed[]
}

export const canaryPromotion: Invariant = {
  name: 'canary-promotion',
  start() {
    const promoted = new Map<DeploymentUid, Promoted>()
    /** The engine's ids of the containers that were adopted. */
    const adopted = new Map<AssignmentId, string>()
    return function* (moment) {
      notePromotions(moment, promoted, adopted)
      for (const { is } of moment.placements.changed) {
        const uid = is && deploymentUidOf(is.owner)
        const one = uid && promoted.get(uid)
        if (is === undefined || uid === undefined || one === undefined || is.revision < one.revision) continue
        promoted.delete(uid)
        // A later revision that was stored at once has another template.
        if (is.revision === one.revision) yield* unadopted(moment, is, one)
      }
      for (const moved of keptAssignments(moment)) {
        const isAdopted = isMarked(moved.was) && !isMarked(moved.assignment)
        if (isAdopted && deploymentOf(moment, moved)?.canary !== undefined)
          yield { subject: showPlaced(moved), message: 'was adopted, and its canary was not promoted' }
      }
      if (moment.machinesChanged) yield* recreated(moment, adopted)
    }
  },
}

function notePromotions(
  { deployments, placements, world }: Moment,
  promoted: Map<DeploymentUid, Promoted>,
  adopted: Map<AssignmentId, string>,
): void {
  for (const { tenant, was, is } of deployments.changed) {
    if (tenant === undefined || is === undefined || is.uid !== was?.uid) continue
    if (activeCanary(was) === undefined || is.canary !== undefined) continue
    const placement = placements.all.find(({ record }) => deploymentUidOf(record.owner) === is.uid)?.record
    const replicas = (placement?.assignments ?? [])
      .filter((each) => isMarked(each) && each.desired === 'running')
      .flatMap((assignment) => (placement === undefined ? [] : [{ tenant, placement, assignment }]))
    promoted.set(is.uid, { revision: is.revision, replicas })
    const ids = new Set(replicas.map(({ assignment }) => assignment.id))
    for (const { id, assignmentId } of world.machines.flatMap(({ containers }) => containers))
      if (ids.has(assignmentId)) adopted.set(assignmentId, id)
  }
}

function* unadopted(
  moment: Moment,
  placement: StoredPlacement,
  { revision, replicas }: Promoted,
): Generator<Broken> {
  const promoted = new Set(replicas.map(({ assignment }) => assignment.id))
  const kept = placement.assignments.filter(({ id }) => promoted.has(id))
  for (const placed of replicas) {
    const { tenant, assignment } = placed
    const is = placement.assignments.find(({ id }) => id === assignment.id)
    // After a drain that was cancelled, a number may have two replicas.
    const isAdopted = kept.some((each) => each.replica === assignment.replica && isOfRevision(each, revision))
    const isLeft = is?.desired === 'running' && !isOfRevision(is, revision)
    if (isAdopted && !isLeft) continue
    const stored = deploymentOf(moment, placed)
    const isSurplus = stored === undefined || stored.deleting || assignment.replica > replicasOf(stored)
    if (isSurplus || mustLeave(moment, tenant, assignment)) continue
    yield {
      subject: showPlaced(placed),
      message: `was promoted to revision ${revision} and is ${is === undefined ? 'gone' : `${is.desired}, of revision ${is.revision}${isMarked(is) ? ', marked' : ''}`}`,
    }
  }
}

const isOfRevision = (each: Pick<Assignment, 'desired' | 'canary' | 'revision'>, revision: number): boolean =>
  each.desired === 'running' && !isMarked(each) && each.revision === revision

function* recreated({ world }: Moment, adopted: ReadonlyMap<AssignmentId, string>): Generator<Broken> {
  if (adopted.size === 0) return
  for (const { name, containers } of world.machines)
    for (const { id, assignmentId } of containers)
      if ((adopted.get(assignmentId) ?? id) !== id)
        yield { subject: assignmentId, message: `was adopted, and its container on ${name} is another one` }
}
