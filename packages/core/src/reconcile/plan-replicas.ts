// Wished replicas against assigned ones: what stays, what goes, what is missing. DECISIONS 5, SAFETY 4e. An assignment is
// immutable but for `desired`, which only moves on, and it leaves the record only when its agent has confirmed that no
// container of it exists any more, or when its machine is no longer enrolled.

import type { Assignment, AssignmentId, NodeId } from '@holdfast/contract'

export interface WishedReplicas {
  readonly replicas: number
  readonly deleting: boolean
}

export interface AssignmentFacts {
  /** The agent has confirmed that no container exists and none will be made. */
  isGone(id: AssignmentId): boolean
  /** The node is no longer enrolled. One that is merely silent is not lost. */
  isLost(nodeId: NodeId): boolean
  /** The tenant gives the node back: each replica there is to have a ready successor elsewhere, and then goes. */
  isLeaving(nodeId: NodeId): boolean
  isReady(id: AssignmentId): boolean
}

export interface ReplicaPlan {
  /** What is left of the assignments, in their order, each with its `desired` of now. */
  readonly kept: readonly Assignment[]
  readonly dropped: readonly Assignment[]
  /** The numbers of the replicas that have no assignment, lowest first; numbers begin at 1. */
  readonly missing: readonly number[]
}

export function planReplicas(
  wished: WishedReplicas,
  assignments: readonly Assignment[],
  facts: AssignmentFacts,
): ReplicaPlan {
  const count = wished.deleting ? 0 : wished.replicas
  const isOver = ({ id, nodeId }: Assignment) => facts.isGone(id) || facts.isLost(nodeId)
  const left = assignments.filter((each) => !isOver(each)).map((each) => moveOn(each, count))
  const staying = left.filter(({ desired, nodeId }) => desired === 'running' && !facts.isLeaving(nodeId))
  const taken = new Set(staying.map(({ replica }) => replica))
  const served = new Set(staying.filter(({ id }) => facts.isReady(id)).map(({ replica }) => replica))
  const kept = left.map((each) =>
    facts.isLeaving(each.nodeId) && served.has(each.replica) ? moveOn(each, 0) : each,
  )
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  return {
    kept,
    dropped: assignments.filter(isOver),
    missing: numbers.filter((replica) => !taken.has(replica)),
  }
}

/** Numbers beyond the wished count go, so that a smaller count takes the highest first. Whoever is going never returns. */
function moveOn(assignment: Assignment, count: number): Assignment {
  if (assignment.replica <= count || assignment.desired === 'removed') return assignment
  return { ...assignment, desired: 'removed' }
}

/** Whether every assignment stays as it is. `kept` holds the very objects that were given where it does. */
export function isUnchanged({ kept, dropped }: ReplicaPlan, assignments: readonly Assignment[]): boolean {
  return dropped.length === 0 && kept.every((each, index) => each === assignments[index])
}
