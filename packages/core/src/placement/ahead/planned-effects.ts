// The effects of a change, from the decisions of its dry run: replicas that move, restart or stop, replicas without a
// node, routes without a replica, and the lowest number of ready replicas. See docs/design/rollouts.md#effects

import type { Effects, Route } from '@holdfast/contract'
import { canaryText } from '../../canary/canary-text.ts'
import { stableAssignments } from '../../canary/split-assignments.ts'
import { desiredReplicas } from '../../scaling/desired-replicas.ts'
import type { PlacementRecord } from '../snapshot.ts'
import { waitsFor } from './planned-steps.ts'
import {
  coursesOf,
  isStopFirst,
  kindOf,
  lowestOf,
  namedReplica,
  type PlannedDeployment,
  type PlannedRecord,
  type ReplicaCourse,
  reasonOf,
} from './replica-courses.ts'
import { unplacedCanary } from './waits-text.ts'

/** The effects on all deployments of a plan, in the order of the deployments. */
export function plannedEffects(planned: readonly PlannedDeployment[]): Effects {
  const each = planned.map(effectsOn)
  return {
    moves: each.flatMap(({ moves }) => moves),
    restarts: each.flatMap(({ restarts }) => restarts),
    stops: each.flatMap(({ stops }) => stops),
    unplaced: each.flatMap(({ unplaced }) => unplaced),
    unrouted: each.flatMap(({ unrouted }) => unrouted),
    lostData: [],
    lowestReady: each.flatMap(({ lowestReady }) => lowestReady),
    omitted: each.flatMap(({ omitted }) => omitted),
  }
}

function effectsOn(planned: PlannedDeployment): Effects {
  const courses = coursesOf(planned).filter(({ old }) => old !== undefined)
  const replaced = courses.flatMap((course) => replacedReplica(planned, course))
  return {
    moves: replaced.filter(({ isMove }) => isMove).map(({ entry }) => entry),
    restarts: replaced.filter(({ isMove }) => !isMove).map(({ entry }) => entry),
    stops: courses.flatMap((course) => stoppedReplica(planned, course)),
    unplaced: [...unplaced(planned), ...unplacedOfCanary(planned)],
    unrouted: unrouted(planned),
    lostData: [],
    lowestReady: courses.length === 0 ? [] : lowestReady(planned, courses),
    omitted: planned.isCut ? [{ deployment: planned.next.spec.name, reason: CUT }] : [],
  }
}

const CUT = 'The plan has reached its limit of decisions before the deployment came to rest.'

function replacedReplica(planned: PlannedDeployment, course: ReplicaCourse) {
  const { old, created } = course
  if (old === undefined || created === undefined) return []
  const from = old.assignment.nodeId
  const to = created.assignment.nodeId
  const entry = {
    deployment: planned.next.spec.name,
    ...namedReplica(course),
    from: planned.nodeName(from),
    to: planned.nodeName(to),
    reason: reasonOf(planned, course),
  }
  return [{ entry, isMove: kindOf(course) === 'move' && from !== to }]
}

function stoppedReplica(planned: PlannedDeployment, course: ReplicaCourse): Effects['stops'] {
  const { old, created } = course
  if (old === undefined || created !== undefined) return []
  const node = planned.nodeName(old.assignment.nodeId)
  const deployment = planned.next.spec.name
  return [{ deployment, ...namedReplica(course), node, reason: reasonOf(planned, course) }]
}

/**
 * A deployment that the change does not write is listed only if the change leaves more replicas without a node. After a
 * plan that ended at its limit, replicas without a node are listed only if the scheduler found none for them.
 */
function unplaced(planned: PlannedDeployment): Effects['unplaced'] {
  const { stored, next, isWritten, placementBefore, placementAfter, isCut } = planned
  if (isCut && placementAfter?.shortfall === undefined) return []
  const replicas = unplacedReplicas(next, placementAfter)
  const before = stored === undefined ? 0 : unplacedReplicas(stored, placementBefore)
  if (replicas === 0 || !(isWritten || replicas > before)) return []
  const reason = placementAfter?.shortfall?.summary ?? waitsFor(planned) ?? ''
  return [{ deployment: next.spec.name, replicas, reason }]
}

/** The same for the replicas of a canary. */
function unplacedOfCanary(planned: PlannedDeployment): Effects['unplaced'] {
  const { stored, next, isWritten, placementBefore, placementAfter, turns, isCut } = planned
  const waits = turns.at(-1)?.canaryWaits
  const replicas = unplacedCanary(next.canary, placementAfter).length
  const before = unplacedCanary(stored?.canary, placementBefore).length
  if (replicas === 0 || next.canary === undefined || (isCut && waits === undefined)) return []
  if (!isWritten && replicas <= before) return []
  return [{ deployment: next.spec.name, replicas, canary: true, reason: waits ?? canaryText(next.canary) }]
}

/** The number of replicas without a node. A replica that cannot leave its node counts as one without a node. */
export function unplacedReplicas(of: PlannedRecord, placement: PlacementRecord | undefined): number {
  const assignments = stableAssignments(placement?.assignments ?? [])
  const placed = new Set(
    assignments.filter(({ desired }) => desired === 'running').map(({ replica }) => replica),
  )
  const missing = [...Array(desiredReplicas(of)).keys()].filter((index) => !placed.has(index + 1)).length
  return placement?.shortfall === undefined ? missing : Math.max(1, missing)
}

function unrouted(planned: PlannedDeployment): Effects['unrouted'] {
  const { stored, next, readyBefore, turns } = planned
  const kept = new Set((next.spec.routes ?? []).map(routeKey))
  const isDown = readyBefore.size > 0 && turns.some(({ ready }) => ready.size === 0)
  const deployment = next.spec.name
  return (stored?.spec.routes ?? []).flatMap((route): Effects['unrouted'] => {
    const { host, path } = route
    if (next.deleting)
      return stored?.deleting ? [] : [{ deployment, host, path, reason: 'deployment_deleted' }]
    if (!kept.has(routeKey(route))) return [{ deployment, host, path, reason: 'route_removed' }]
    return isDown ? [{ deployment, host, path, reason: 'no_ready_replica' }] : []
  })
}

const routeKey = ({ host, path }: Pick<Route, 'host' | 'path'>): string => `${host} ${path}`

function lowestReady(planned: PlannedDeployment, courses: readonly ReplicaCourse[]): Effects['lowestReady'] {
  const { next, readyBefore, turns } = planned
  const desired = desiredReplicas(next)
  const ready = lowestOf(desired, [readyBefore, ...turns.map((turn) => turn.ready)])
  const before = lowestOf(desired, [readyBefore])
  return [
    { deployment: next.spec.name, ready, desired, reason: readyReason({ ready, desired, before }, courses) },
  ]
}

function readyReason(
  { ready, desired, before }: { readonly ready: number; readonly desired: number; readonly before: number },
  courses: readonly ReplicaCourse[],
): string {
  if (desired === 0) return 'No replica is desired after the change.'
  if (ready === before && ready < desired)
    return `${ready} of ${desired} replicas ${ready === 1 ? 'is' : 'are'} ready before the change.`
  if (ready >= desired) return 'Each old replica serves until its successor is ready.'
  if (courses.some(isStopFirst)) return 'An old replica stops before its successor starts.'
  if (courses.some(({ created }) => created === undefined)) return 'Replicas stop without a successor.'
  return 'The node of an old replica is lost before the successor is ready.'
}
