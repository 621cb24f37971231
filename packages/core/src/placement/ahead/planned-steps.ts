// Turns the decisions of a dry run about one deployment into steps for a person to read: where each replica goes and why,
// which replica is replaced, and the lowest number of ready replicas. See docs/design/rollouts.md#dry-run-plans

import type { PlannedReplica, PlanStep, RolloutPlanned } from '@holdfast/contract'
import { desiredReplicas } from '../../scaling/desired-replicas.ts'
import {
  coursesOf,
  isStopFirst,
  kindOf,
  lowestOf,
  namedReplica,
  type PlannedDeployment,
  type ReplicaCourse,
  reasonOf,
  startOf,
} from './replica-courses.ts'

export interface PlannedSteps {
  readonly steps: readonly PlanStep[]
  readonly rollout: RolloutPlanned
}

const UNRESOLVED = 'No registry has resolved the image yet: replicas wait for that.'

export function plannedSteps(planned: PlannedDeployment): PlannedSteps {
  const { readyBefore, turns, next } = planned
  const courses = coursesOf(planned)
  const lowest = lowestOf(desiredReplicas(next), [readyBefore, ...turns.map(({ ready }) => ready)])
  const steps = groupSteps(planned, courses)
  const { name, update } = next.spec
  // A deployment that waits as before, only for another reason, is no step of the change.
  const waits = planned.isWritten || courses.length > 0 ? [waitsFor(planned), turns.at(-1)?.canaryWaits] : []
  const waiting = waits.flatMap((text): PlanStep[] =>
    text === undefined ? [] : [{ deployment: name, kind: 'wait', replicas: [], lowestReady: lowest, text }],
  )
  const recreated = courses.filter(({ old, created }) => old !== undefined && created !== undefined)
  const order = recreated.some(isStopFirst) ? 'stop-first' : update.order
  const summary = summaryOf(recreated.length, steps, order, lowest)
  const rollout = { order, parallelism: update.parallelism, lowestReady: lowest, summary }
  return { steps: [...steps, ...waiting], rollout }
}

/** The condition that the deployment still waits for after the last decision. */
export function waitsFor({ next, isWritten, turns }: PlannedDeployment): string | undefined {
  if (isWritten && next.digest === null && desiredReplicas(next) > 0) return UNRESOLVED
  return turns.at(-1)?.waits
}

function groupSteps(planned: PlannedDeployment, courses: readonly ReplicaCourse[]): PlanStep[] {
  const groups = Map.groupBy(courses, (course) => `${startOf(course)} ${kindOf(course)}`)
  return [...groups.values()].map((group) => {
    const [first] = group
    const replicas = group.map((course) => plannedReplica(planned, course))
    return {
      deployment: planned.next.spec.name,
      kind: first === undefined ? 'wait' : kindOf(first),
      replicas,
      lowestReady: Math.min(...group.map((course) => readyDuring(planned, course))),
      text: group.map((course) => textOf(planned, course)).join(' '),
    }
  })
}

function readyDuring({ turns, next }: PlannedDeployment, course: ReplicaCourse): number {
  const from = startOf(course)
  const to = Math.max(course.old?.at ?? from, course.created?.at ?? from)
  return lowestOf(
    desiredReplicas(next),
    turns.slice(from, to + 1).map(({ ready }) => ready),
  )
}

function plannedReplica(planned: PlannedDeployment, course: ReplicaCourse): PlannedReplica {
  const { old, created } = course
  return {
    ...namedReplica(course),
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

const BECAUSE: { readonly [reason in PlannedReplica['reason']]?: string } = {
  no_longer_qualifies: ', which no longer qualifies,',
  node_leaving: ', which is being emptied,',
  node_lost: ', which is lost,',
}

function textOf(planned: PlannedDeployment, course: ReplicaCourse): string {
  const { old, created } = course
  const name = course.isCanary ? `replica ${course.replica} of the canary` : `replica ${course.replica}`
  const to = created && `on ${planned.nodeName(created.assignment.nodeId)} (${created.why})`
  if (old === undefined) return `R${name.slice(1)} starts ${to}.`
  const from = `${name} on ${planned.nodeName(old.assignment.nodeId)}${BECAUSE[reasonOf(planned, course)] ?? ''}`
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
