// The course of each replica in a dry run: from the assignment that it had before the change to the one that it has at
// the end, over all decisions of the controllers. Steps and effects are both derived from these courses.

import type { Assignment, NodeId, PlannedReplica, PlanStep } from '@holdfast/contract'
import { isCanaryReplica, stableAssignments } from '../../canary/split-assignments.ts'
import type { NodeDisposition } from '../../rollout/desired-replicas.ts'
import { desiredReplicas } from '../../scaling/desired-replicas.ts'
import type { DeploymentRecord, PlacementRecord } from '../snapshot.ts'

/** One decision of the dry run. */
export interface PlannedTurn {
  readonly added: readonly { readonly assignment: Assignment; readonly why: string }[]
  /** The assignments that the decision stops. */
  readonly removed: readonly Assignment[]
  /** Maps each node that had a replica before the decision to the disposition of the replicas on the node. */
  readonly dispositions: ReadonlyMap<NodeId, NodeDisposition | 'displaced'>
  /** The replica numbers that serve right after the decision, before any agent has acted on the decision. */
  readonly ready: ReadonlySet<number>
  /** The condition that the rollout waits for after the decision. */
  readonly waits: string | undefined
  /** The condition that the canary waits for after the decision. */
  readonly canaryWaits: string | undefined
}

/** The part of a deployment record that a plan needs. */
export type PlannedRecord = Pick<DeploymentRecord, 'spec' | 'deleting' | 'digest' | 'scaling' | 'canary'> & {
  readonly restartRevision?: number
}

/** Everything that a dry run recorded about one deployment. */
export interface PlannedDeployment {
  /** The deployment before the change; undefined if the change creates it. */
  readonly stored: PlannedRecord | undefined
  /** The deployment after the change. */
  readonly next: PlannedRecord
  /** True if the change itself writes the deployment, false if the deployment is only affected by the change. */
  readonly isWritten: boolean
  readonly placementBefore: PlacementRecord | undefined
  readonly placementAfter: PlacementRecord | undefined
  readonly readyBefore: ReadonlySet<number>
  readonly turns: readonly PlannedTurn[]
  /** True if the plan ended at its limit, before the deployment came to rest. */
  readonly isCut: boolean
  nodeName(id: NodeId): string
}

/**
 * How one replica number moves from its old assignment to its new one. Each assignment has the index of the decision that
 * removes or adds it.
 */
export interface ReplicaCourse {
  readonly replica: number
  /** Whether it is a replica of a canary, which has a number beside those of the deployment. */
  readonly isCanary: boolean
  readonly old?: { readonly assignment: Assignment; readonly at: number }
  readonly created?: { readonly assignment: Assignment; readonly why: string; readonly at: number }
}

/** The number of a replica, and the mark of one of a canary. */
export const namedReplica = ({ replica, isCanary }: ReplicaCourse) => ({
  replica,
  ...(isCanary ? { canary: true } : {}),
})

/** If a replica is replaced twice during a dry run, only its final assignment is shown. */
export function coursesOf({ placementBefore, turns }: PlannedDeployment): ReplicaCourse[] {
  const courses = new Map<string, ReplicaCourse>()
  const before = placementBefore?.assignments ?? []
  const first = new Map(
    before.filter(({ desired }) => desired === 'running').map((each) => [keyOf(each), each]),
  )
  turns.forEach(({ added, removed }, at) => {
    for (const assignment of removed) {
      const key = keyOf(assignment)
      const known = courses.get(key)
      if (known?.created?.assignment.id === assignment.id) courses.set(key, withoutCreated(known))
      else if (known?.old === undefined && first.get(key)?.id === assignment.id)
        courses.set(key, { ...known, ...numberOf(assignment), old: { assignment, at } })
    }
    for (const { assignment, why } of added) {
      const key = keyOf(assignment)
      courses.set(key, {
        ...courses.get(key),
        ...numberOf(assignment),
        created: { assignment, why, at },
      })
    }
  })
  return [...courses.values()]
    .filter(({ old, created }) => old !== undefined || created !== undefined)
    .sort((left, right) => startOf(left) - startOf(right) || left.replica - right.replica)
}

const numberOf = (assignment: Assignment) => ({
  replica: assignment.replica,
  isCanary: isCanaryReplica(assignment),
})

const keyOf = (assignment: Assignment): string =>
  `${isCanaryReplica(assignment) ? 'canary ' : ''}${assignment.replica}`

/** The course of a replica whose successor was stopped again. */
function withoutCreated({ created: _stopped, ...course }: ReplicaCourse): ReplicaCourse {
  return course
}

/** The index of the first decision about a replica. */
export const startOf = ({ old, created }: ReplicaCourse): number =>
  Math.min(old?.at ?? Number.POSITIVE_INFINITY, created?.at ?? Number.POSITIVE_INFINITY)

export const isStopFirst = ({ old, created }: ReplicaCourse): boolean =>
  old !== undefined && created !== undefined && old.at < created.at

export function kindOf({ old, created }: ReplicaCourse): Exclude<PlanStep['kind'], 'wait'> {
  if (created === undefined) return 'stop'
  if (old === undefined) return 'start'
  return old.assignment.templateHash === created.assignment.templateHash ? 'move' : 'replace'
}

export function reasonOf(planned: PlannedDeployment, course: ReplicaCourse): PlannedReplica['reason'] {
  const { next, turns } = planned
  const { old, created, replica, isCanary } = course
  if (old === undefined) return 'new_replica'
  if (replica > desiredReplicas(next) || (isCanary && created === undefined)) return 'not_desired'
  if (kindOf(course) === 'replace' || isAdopted(planned, course))
    return isRestart(planned) ? 'restart' : 'template_changed'
  const disposition = turns[startOf(course)]?.dispositions.get(old.assignment.nodeId)
  if (disposition === 'leaving') return 'node_leaving'
  return disposition === 'failed' || disposition === 'absent' ? 'node_lost' : 'no_longer_qualifies'
}

/** Whether a replica of a promoted canary has taken over the number. */
const isAdopted = (
  { placementAfter }: PlannedDeployment,
  { old, created, replica }: ReplicaCourse,
): boolean =>
  created === undefined &&
  stableAssignments(placementAfter?.assignments ?? []).some(
    (each) => each.replica === replica && each.desired === 'running' && each.id !== old?.assignment.id,
  )

const isRestart = ({ stored, next }: PlannedDeployment): boolean =>
  stored !== undefined && stored.restartRevision !== next.restartRevision

/** The lowest number of desired replicas that are ready at any of the given moments. */
export function lowestOf(desired: number, moments: readonly ReadonlySet<number>[]): number {
  return Math.min(...moments.map((ready) => [...ready].filter((replica) => replica <= desired).length))
}
