// Wished replicas against assigned ones: what stays, what goes, what is missing and of what it is to be made. DECISIONS 4
// and 5, SAFETY 4e. An assignment is immutable but for `desired`, which only moves on, and it leaves the record only when
// its agent has confirmed that no container of it exists any more, or when its machine is no longer enrolled.

import type { Assignment, AssignmentId } from '@holdfast/contract'
import type { DesiredReplicas, MissingReplica, ReplicaFacts } from './desired-replicas.ts'
import { type NumberPlan, planNumber } from './plan-replicas-number.ts'

export interface ReplicaPlan {
  /** What is left of the assignments, in their order, each with its `desired` of now. */
  readonly kept: readonly Assignment[]
  readonly dropped: readonly Assignment[]
  /** The replicas that are to be made now, lowest number first; numbers begin at 1. */
  readonly missing: readonly MissingReplica[]
  /** Something would be made or replaced if nothing stood before the gate. */
  readonly held: boolean
  /** The numbers whose old replica goes first because the quota leaves no room for a successor beside it. */
  readonly forcedByQuota: readonly number[]
}

export function planReplicas(
  wish: DesiredReplicas,
  assignments: readonly Assignment[],
  facts: ReplicaFacts,
): ReplicaPlan {
  const isOver = ({ id, nodeId }: Assignment) =>
    facts.seen(id)?.gone === true || facts.dispositionOf(nodeId) === 'absent'
  const dropped = assignments.filter(isOver).slice(0, DROPPED_AT_ONCE)
  const left = assignments.filter((each) => !dropped.includes(each))
  const byNumber = groupByNumber(left, wish.count)
  const room = facts.room - left.length
  const numbers = [...byNumber].map(([replica, group]) => planNumber(wish, { replica, group, room }, facts))
  const steps = takeSteps(wish, numbers, room)
  const kept = left.map((each) =>
    each.replica > wish.count || steps.leaving.has(each.id) ? moveOn(each) : each,
  )
  return { kept, dropped, ...steps }
}

/** A transaction deletes what was seen of each (SAFETY 4a); the others follow. */
const DROPPED_AT_ONCE = 80

function groupByNumber(left: readonly Assignment[], count: number): Map<number, Assignment[]> {
  const byNumber = new Map<number, Assignment[]>()
  for (let replica = 1; replica <= count; replica += 1) byNumber.set(replica, [])
  for (const each of left) byNumber.get(each.replica)?.push(each)
  return byNumber
}

type Steps = Pick<ReplicaPlan, 'missing' | 'held' | 'forcedByQuota'> & {
  readonly leaving: ReadonlySet<AssignmentId>
}

/** What has nothing is made at once; what is to be replaced waits for its turn. */
function takeSteps(wish: DesiredReplicas, numbers: readonly NumberPlan[], room: number): Steps {
  const leaving = new Set(numbers.flatMap((each) => each.leaving.map(({ id }) => id)))
  const missing = numbers.flatMap(({ empty }) => empty ?? [])
  // What is stranded takes no turn from those that can go.
  const waiting = numbers.flatMap(({ outdated }) => (outdated?.stranded === false ? outdated : []))
  if (wish.gated)
    return { leaving, missing: [], held: missing.length + waiting.length > 0, forcedByQuota: [] }
  const budget = Math.max(1, wish.parallelism) - numbers.filter(({ moving }) => moving).length
  const forcedByQuota: number[] = []
  const empty = missing.length
  let free = room - empty
  for (const [taken, { successor, old }] of waiting.slice(0, Math.max(0, budget)).entries()) {
    const beside = !wish.stopFirst && free > 0
    if (beside) {
      missing.push(successor)
      free -= 1
    } else if (room + old.length <= 0) {
      // More than the quota already: to stop it would make no room. It is asked for in vain, so that it is told why.
      missing.push(successor)
    } else if (wish.aim !== undefined && taken + empty < budget) {
      // Only where no other number is without a replica already, and something can be made in its place.
      for (const { id } of old) leaving.add(id)
      if (!wish.stopFirst) forcedByQuota.push(successor.replica)
    }
  }
  missing.sort((one, other) => one.replica - other.replica)
  return { leaving, missing, held: false, forcedByQuota }
}

/** Whoever is going never returns. */
const moveOn = (assignment: Assignment): Assignment =>
  assignment.desired === 'removed' ? assignment : { ...assignment, desired: 'removed' }

/**
 * What was lost is given up for a successor that has a node, and not before: if its machine returns first, it serves again.
 * `added` are those of `missing` that found one.
 */
export function giveUpLost(
  kept: readonly Assignment[],
  added: readonly Assignment[],
  { dispositionOf }: Pick<ReplicaFacts, 'dispositionOf'>,
): Assignment[] {
  const numbers = new Set(added.map(({ replica }) => replica))
  return kept.map((each) =>
    numbers.has(each.replica) && dispositionOf(each.nodeId) === 'failed' ? moveOn(each) : each,
  )
}

/** Whether every assignment stays as it is. `kept` holds the very objects that were given where it does. */
export function isUnchanged(
  { kept, dropped }: Pick<ReplicaPlan, 'kept' | 'dropped'>,
  assignments: readonly Assignment[],
): boolean {
  return dropped.length === 0 && kept.every((each, index) => each === assignments[index])
}
