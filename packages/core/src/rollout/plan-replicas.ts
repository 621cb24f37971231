// Compares desired replicas with assignments: which assignments stay, which are removed, and which replicas are missing.
// An assignment never changes, except that `desired` becomes `removed` for good. An assignment leaves the record only
// once its agent has confirmed that the container is gone, or once its node is no longer enrolled. See
// docs/design/rollouts.md#desired-replicas

import type { Assignment, AssignmentId } from '@holdfast/contract'
import type { DesiredReplicas, MissingReplica, ReplicaFacts } from './desired-replicas.ts'
import { type NumberPlan, planNumber } from './plan-replicas-number.ts'

export interface ReplicaPlan {
  /** The assignments that remain in the placement record, in their order, each with its new value of `desired`. */
  readonly kept: readonly Assignment[]
  readonly dropped: readonly Assignment[]
  /** The replicas to create now, sorted by replica number. Replica numbers start at 1. */
  readonly missing: readonly MissingReplica[]
  /** True if a dependency that is not ready prevents a replica from being created or replaced. */
  readonly held: boolean
  /** The replica numbers whose old replica is stopped first, because the quota does not allow two replicas at once. */
  readonly forcedByQuota: readonly number[]
}

export function planReplicas(
  desired: DesiredReplicas,
  assignments: readonly Assignment[],
  facts: ReplicaFacts,
): ReplicaPlan {
  const isOver = ({ id, nodeId }: Assignment) =>
    facts.seen(id)?.gone === true || facts.dispositionOf(nodeId) === 'absent'
  const dropped = assignments.filter(isOver).slice(0, DROPPED_AT_ONCE)
  const left = assignments.filter((each) => !dropped.includes(each))
  const byNumber = groupByNumber(left, desired.count)
  const room = facts.room - left.length
  const numbers = [...byNumber].map(([replica, group]) =>
    planNumber(desired, { replica, group, room }, facts),
  )
  const isSurplus = ({ replica, nodeId }: Assignment) =>
    replica > desired.count && facts.dispositionOf(nodeId) !== 'failed'
  const releases = numbers.reduce((sum, each) => sum + each.releases, left.filter(isSurplus).length)
  const steps = planSteps(desired, numbers, { room, releases })
  const kept = left.map((each) =>
    each.replica > desired.count || steps.leaving.has(each.id) ? markRemoved(each) : each,
  )
  return { kept, dropped, ...steps }
}

/** The most assignments that one plan drops from the record, because the commit deletes the observation of each. */
const DROPPED_AT_ONCE = 80

function groupByNumber(left: readonly Assignment[], count: number): Map<number, Assignment[]> {
  const byNumber = new Map<number, Assignment[]>()
  for (let replica = 1; replica <= count; replica += 1) byNumber.set(replica, [])
  for (const each of left) byNumber.get(each.replica)?.push(each)
  return byNumber
}

type ReplicaSteps = Pick<ReplicaPlan, 'missing' | 'held' | 'forcedByQuota'> & {
  readonly leaving: ReadonlySet<AssignmentId>
}

interface QuotaRoom {
  /** The number of further containers that the quota allows now. */
  readonly room: number
  /** The number by which the room will grow once what is under way has ended. */
  readonly releases: number
}

/**
 * A replica number without a replica gets a replica at once. Outdated replicas are replaced as parallelism allows. A
 * successor waits for room that is about to be released, so that its old replica need not be stopped first.
 */
function planSteps(
  desired: DesiredReplicas,
  numbers: readonly NumberPlan[],
  { room, releases }: QuotaRoom,
): ReplicaSteps {
  const leaving = new Set(numbers.flatMap((each) => each.leaving.map(({ id }) => id)))
  const missing = numbers.flatMap(({ empty }) => empty ?? [])
  // A replica that cannot move, because no node accepts a successor, must not use up the parallelism of replicas that can
  // move.
  const waiting = numbers.flatMap(({ outdated }) => (outdated?.stranded === false ? outdated : []))
  if (desired.gated)
    return { leaving, missing: [], held: missing.length + waiting.length > 0, forcedByQuota: [] }
  const budget = Math.max(1, desired.parallelism) - numbers.filter(({ moving }) => moving).length
  const forcedByQuota: number[] = []
  const empty = missing.length
  let free = room - empty
  const waitsForRoom = !desired.stopFirst && free + releases > 0
  for (const [taken, { successor, old }] of waiting.slice(0, Math.max(0, budget)).entries()) {
    const beside = !desired.stopFirst && free > 0
    if (beside) {
      missing.push(successor)
      free -= 1
    } else if (room + old.length <= 0) {
      // The quota is already exceeded, so stopping the old replica would allow no new one. Placing the successor fails,
      // and the explanation names the quota.
      missing.push(successor)
    } else if (!waitsForRoom && desired.aim !== undefined && taken + empty < budget) {
      // The old replica is stopped only if parallelism allows it besides the missing replicas and a successor can follow.
      for (const { id } of old) leaving.add(id)
      if (!desired.stopFirst) forcedByQuota.push(successor.replica)
    }
  }
  missing.sort((one, other) => one.replica - other.replica)
  return { leaving, missing, held: false, forcedByQuota }
}

const markRemoved = (assignment: Assignment): Assignment =>
  assignment.desired === 'removed' ? assignment : { ...assignment, desired: 'removed' }

/**
 * Removes only those lost replicas whose successor has found a node. The other lost replicas serve again if their node
 * returns. `added` are the missing replicas that found a node.
 */
export function removeReplacedLost(
  kept: readonly Assignment[],
  added: readonly Assignment[],
  facts: Pick<ReplicaFacts, 'dispositionOf' | 'isSuperseded'>,
): Assignment[] {
  const numbers = new Set(added.map(({ replica }) => replica))
  const isLost = (each: Assignment) =>
    facts.dispositionOf(each.nodeId) === 'failed' || facts.isSuperseded?.(each) === true
  return kept.map((each) => (numbers.has(each.replica) && isLost(each) ? markRemoved(each) : each))
}

/** Whether a plan changes no assignment. An unchanged assignment is the same object in `kept`. */
export function isUnchanged(
  { kept, dropped }: Pick<ReplicaPlan, 'kept' | 'dropped'>,
  assignments: readonly Assignment[],
): boolean {
  return dropped.length === 0 && kept.every((each, index) => each === assignments[index])
}
