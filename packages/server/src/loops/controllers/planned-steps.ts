// The turns that were foreseen, as the steps that a person reads: which replica goes where and why, what it takes the place
// of, and how few are ready meanwhile. DECISIONS 1 (plan).

import type { Assignment, NodeId, PlannedReplica, PlanStep, RolloutPlanned } from '@holdfast/contract'
import type { NodeDisposition } from '@holdfast/core'
import type { PlannedRollout } from '../../operations/deployments/write/plan.ts'
import type { StoredDeployment } from '../../store/records.ts'

/** One decision of the controllers. */
export interface Turn {
  readonly added: readonly { readonly assignment: Assignment; readonly why: string }[]
  /** Told to go by it. */
  readonly removed: readonly Assignment[]
  /** What became of the nodes that replicas are on. */
  readonly dispositions: ReadonlyMap<NodeId, NodeDisposition | 'displaced'>
  /** The numbers that are served right after it, before any agent has done anything. */
  readonly ready: ReadonlySet<number>
  readonly waits: string | undefined
  /** Replicas that no node takes. */
  readonly unplaced: number
}

export interface PlannedTurns {
  readonly stored: StoredDeployment
  readonly before: readonly Assignment[]
  readonly readyBefore: ReadonlySet<number>
  readonly turns: readonly Turn[]
  /** What still stands in the way after the last of them. */
  readonly waits: string | undefined
  readonly restart: boolean
  nodeName(id: NodeId): string
}

/** What becomes of one replica: both ends, each with the turn that it belongs to. */
interface Course {
  readonly replica: number
  readonly old?: { readonly assignment: Assignment; readonly at: number }
  readonly made?: { readonly assignment: Assignment; readonly why: string; readonly at: number }
}

export function plannedSteps(foreseen: PlannedTurns): Pick<PlannedRollout, 'steps' | 'rollout'> {
  const { waits, readyBefore, turns, stored } = foreseen
  const courses = coursesOf(foreseen)
  const lowest = lowestOf(stored, [readyBefore, ...turns.map(({ ready }) => ready)])
  const steps = groupSteps(foreseen, courses)
  const waiting: PlanStep[] =
    waits === undefined ? [] : [{ kind: 'wait', replicas: [], lowestReady: lowest, text: waits }]
  const { parallelism } = stored.spec.update
  const anew = courses.filter(({ old, made }) => old !== undefined && made !== undefined)
  const order = anew.some(isStopFirst) ? 'stop-first' : stored.spec.update.order
  const summary = summaryOf(anew.length, steps, order, lowest)
  return { steps: [...steps, ...waiting], rollout: { order, parallelism, lowestReady: lowest, summary } }
}

const isStopFirst = ({ old, made }: Course): boolean =>
  old !== undefined && made !== undefined && old.at < made.at

/** Of the numbers that are wished. */
function lowestOf({ spec }: StoredDeployment, moments: readonly ReadonlySet<number>[]): number {
  return Math.min(...moments.map((ready) => [...ready].filter((replica) => replica <= spec.replicas).length))
}

/** A number that is made twice on the way is told by what it ends as. */
function coursesOf({ before, turns }: PlannedTurns): Course[] {
  const courses = new Map<number, Course>()
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
        made: { assignment, why, at },
      })
  })
  return [...courses.values()].sort(
    (left, right) => startOf(left) - startOf(right) || left.replica - right.replica,
  )
}

const startOf = ({ old, made }: Course): number =>
  Math.min(old?.at ?? Number.POSITIVE_INFINITY, made?.at ?? Number.POSITIVE_INFINITY)

function groupSteps(foreseen: PlannedTurns, courses: readonly Course[]): PlanStep[] {
  const groups = Map.groupBy(courses, (course) => `${startOf(course)} ${kindOf(course)}`)
  return [...groups.values()].map((group) => {
    const [first] = group
    const replicas = group.map((course) => plannedReplica(foreseen, course))
    return {
      kind: first === undefined ? 'wait' : kindOf(first),
      replicas,
      lowestReady: Math.min(...group.map((course) => readyDuring(foreseen, course))),
      text: group.map((course) => textOf(foreseen, course)).join(' '),
    }
  })
}

function readyDuring({ turns, stored }: PlannedTurns, course: Course): number {
  const from = startOf(course)
  const to = Math.max(course.old?.at ?? from, course.made?.at ?? from)
  return lowestOf(
    stored,
    turns.slice(from, to + 1).map(({ ready }) => ready),
  )
}

function kindOf({ old, made }: Course): PlanStep['kind'] {
  if (made === undefined) return 'stop'
  if (old === undefined) return 'start'
  return old.assignment.templateHash === made.assignment.templateHash ? 'move' : 'replace'
}

function plannedReplica(foreseen: PlannedTurns, course: Course): PlannedReplica {
  const { old, made, replica } = course
  return {
    replica,
    ...(made === undefined
      ? {}
      : {
          nodeId: made.assignment.nodeId,
          nodeName: foreseen.nodeName(made.assignment.nodeId),
          why: made.why,
        }),
    ...(old === undefined ? {} : { from: foreseen.nodeName(old.assignment.nodeId) }),
    reason: reasonOf(foreseen, course),
  }
}

function reasonOf({ stored, turns, restart }: PlannedTurns, course: Course): PlannedReplica['reason'] {
  const { old, replica } = course
  if (old === undefined) return 'new_replica'
  if (stored.deleting || replica > stored.spec.replicas) return 'not_wished'
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

function textOf(foreseen: PlannedTurns, course: Course): string {
  const { old, made, replica } = course
  const to = made && `on ${foreseen.nodeName(made.assignment.nodeId)} (${made.why})`
  if (old === undefined) return `Replica ${replica} starts ${to}.`
  const from = `replica ${replica} on ${foreseen.nodeName(old.assignment.nodeId)}${BECAUSE[reasonOf(foreseen, course)] ?? ''}`
  if (made === undefined) return `R${from.slice(1)} stops.`
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
  const pace = steps.filter(({ kind }) => kind === 'replace' || kind === 'move').length
  const made = `${count === 1 ? '1 replica is' : `${count} replicas are`} recreated`
  return `${made} in ${pace === 1 ? '1 step' : `${pace} steps`}, ${order}; at least ${lowest} ready on the way.`
}
