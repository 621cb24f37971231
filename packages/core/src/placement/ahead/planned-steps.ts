// Turns the decisions of a dry run into steps for a person to read: where each replica goes and why, which replica is
// replaced, and the lowest number of ready replicas during the rollout. See docs/design/rollouts.md#dry-run-plans

import type { Assignment, NodeId, PlannedReplica, PlanStep, RolloutPlanned } from '@holdfast/contract'
import type { NodeDisposition } from '../../rollout/desired-replicas.ts'
import type { DeploymentRecord } from '../snapshot.ts'

/** One decision of the dry run. */
export interface PlannedTurn {
  readonly added: readonly { readonly assignment: Assignment; readonly why: string }[]
  /** The assignments that the decision stops. */
  readonly removed: readonly Assignment[]
  /** Maps each node that had a replica before the decision to what happens to the replicas on the node. */
  readonly dispositions: ReadonlyMap<NodeId, NodeDisposition | 'displaced'>
  /** The replica numbers that serve right after the decision, before any agent has acted on the decision. */
  readonly ready: ReadonlySet<number>
  /** The condition that the rollout waits for after the decision. */
  readonly waits: string | undefined
  /** The number of replicas that no node accepts in this decision. */
  readonly unplaced: number
}

export interface PlannedTurns {
  readonly deployment: Pick<DeploymentRecord, 'spec' | 'deleting'>
  readonly before: readonly Assignment[]
  readonly readyBefore: ReadonlySet<number>
  readonly turns: readonly PlannedTurn[]
  /** The condition that the rollout still waits for after the last decision. */
  readonly waits: string | undefined
  /** True if the only requested change is a restart. */
  readonly restart: boolean
  nodeName(id: NodeId): string
}

/**
 * How one replica number moves from its old assignment to its new one. Each assignment has the index of the decision that
 * removes or adds it.
 */
interface ReplicaCourse {
  readonly replica: number
  readonly old?: { readonly assignment: Assignment; readonly at: number }
  readonly created?: { readonly assignment: Assignment; readonly why: string; readonly at: number }
}

export interface PlannedSteps {
  readonly steps: readonly PlanStep[]
  readonly rollout: RolloutPlanned
}

export function plannedSteps(planned: PlannedTurns): PlannedSteps {
  const { waits, readyBefore, turns, deployment } = planned
  const courses = coursesOf(planned)
  const lowest = lowestOf(deployment, [readyBefore, ...turns.map(({ ready }) => ready)])
  const steps = groupSteps(planned, courses)
  const waiting: PlanStep[] =
    waits === undefined ? [] : [{ kind: 'wait', replicas: [], lowestReady: lowest, text: waits }]
  const { parallelism } = deployment.spec.update
  const recreated = courses.filter(({ old, created }) => old !== undefined && created !== undefined)
  const order = recreated.some(isStopFirst) ? 'stop-first' : deployment.spec.update.order
  const summary = summaryOf(recreated.length, steps, order, lowest)
  return { steps: [...steps, ...waiting], rollout: { order, parallelism, lowestReady: lowest, summary } }
}

const isStopFirst = ({ old, created }: ReplicaCourse): boolean =>
  old !== undefined && created !== undefined && old.at < created.at

/** The lowest number of desired replicas that are ready at any moment of the dry run. */
function lowestOf({ spec }: PlannedTurns['deployment'], moments: readonly ReadonlySet<number>[]): number {
  return Math.min(...moments.map((ready) => [...ready].filter((replica) => replica <= spec.replicas).length))
}

/** The moves of all replica numbers. If a replica is replaced twice in a dry run, only its last assignment is listed. */
function coursesOf({ before, turns }: PlannedTurns): ReplicaCourse[] {
  const courses = new Map<number, ReplicaCourse>()
  const first = new Map(
    before.filter(({ desired }) => desired === 'running').map((each) => [each.replica, each]),
  )
  turns.forEach(({ added, removed }, at) => {
    for (const assignment of removed) {
      const known = courses.get(assignment.replica)
      if (known?.old === undefined && first.get(assignment.replica)?.id === assignment.id)
        courses.set(assignment.replica, { ...known, replica: assignment.replica, old: { assignment, at } })
    }
    for (const { assignment, why } of added)
      courses.set(assignment.replica, {
        ...courses.get(assignment.replica),
        replica: assignment.replica,
        created: { assignment, why, at },
      })
  })
  return [...courses.values()].sort(
    (left, right) => startOf(left) - startOf(right) || left.replica - right.replica,
  )
}

const startOf = ({ old, created }: ReplicaCourse): number =>
  Math.min(old?.at ?? Number.POSITIVE_INFINITY, created?.at ?? Number.POSITIVE_INFINITY)

function groupSteps(planned: PlannedTurns, courses: readonly ReplicaCourse[]): PlanStep[] {
  const groups = Map.groupBy(courses, (course) => `${startOf(course)} ${kindOf(course)}`)
  return [...groups.values()].map((group) => {
    const [first] = group
    const replicas = group.map((course) => plannedReplica(planned, course))
    return {
      kind: first === undefined ? 'wait' : kindOf(first),
      replicas,
      lowestReady: Math.min(...group.map((course) => readyDuring(planned, course))),
      text: group.map((course) => textOf(planned, course)).join(' '),
    }
  })
}

function readyDuring({ turns, deployment }: PlannedTurns, course: ReplicaCourse): number {
  const from = startOf(course)
  const to = Math.max(course.old?.at ?? from, course.created?.at ?? from)
  return lowestOf(
    deployment,
    turns.slice(from, to + 1).map(({ ready }) => ready),
  )
}

function kindOf({ old, created }: ReplicaCourse): PlanStep['kind'] {
  if (created === undefined) return 'stop'
  if (old === undefined) return 'start'
  return old.assignment.templateHash === created.assignment.templateHash ? 'move' : 'replace'
}

function plannedReplica(planned: PlannedTurns, course: ReplicaCourse): PlannedReplica {
  const { old, created, replica } = course
  return {
    replica,
    ...(created === undefined
      ? {}
      : {
          nodeId: created.assignment.nodeId,
          nodeName: planned.nodeName(created.assignment.nodeId),
          why: created.why,
        }),
    ...(old === undefined ? {} : { from: planned.nodeName(old.assignment.nodeId) }),
    reason: reasonOf(planned, course),
  }
}

function reasonOf(
  { deployment, turns, restart }: PlannedTurns,
  course: ReplicaCourse,
): PlannedReplica['reason'] {
  const { old, replica } = course
  if (old === undefined) return 'new_replica'
  if (deployment.deleting || replica > deployment.spec.replicas) return 'not_desired'
  if (kindOf(course) === 'replace') return restart ? 'restart' : 'template_changed'
  const disposition = turns[startOf(course)]?.dispositions.get(old.assignment.nodeId)
  if (disposition === 'leaving') return 'node_leaving'
  return disposition === 'failed' || disposition === 'absent' ? 'node_lost' : 'no_longer_qualifies'
}

const BECAUSE: { readonly [reason in PlannedReplica['reason']]?: string } = {
  no_longer_qualifies: ', which no longer qualifies,',
  node_leaving: ', which is being emptied,',
  node_lost: ', which is lost,',
}

function textOf(planned: PlannedTurns, course: ReplicaCourse): string {
  const { old, created, replica } = course
  const to = created && `on ${planned.nodeName(created.assignment.nodeId)} (${created.why})`
  if (old === undefined) return `Replica ${replica} starts ${to}.`
  const from = `replica ${replica} on ${planned.nodeName(old.assignment.nodeId)}${BECAUSE[reasonOf(planned, course)] ?? ''}`
  if (created === undefined) return `R${from.slice(1)} stops.`
  if (isStopFirst(course)) return `R${from.slice(1)} stops, then its successor starts ${to}.`
  return `A successor of ${from} starts ${to}; the old one stops once it is ready.`
}

function summaryOf(
  count: number,
  steps: readonly PlanStep[],
  order: RolloutPlanned['order'],
  lowest: number,
): string {
  if (count === 0) return 'Nothing is recreated.'
  const stepCount = steps.filter(({ kind }) => kind === 'replace' || kind === 'move').length
  const recreated = `${count === 1 ? '1 replica is' : `${count} replicas are`} recreated`
  return `${recreated} in ${stepCount === 1 ? '1 step' : `${stepCount} steps`}, ${order}; at least ${lowest} ready on the way.`
}
