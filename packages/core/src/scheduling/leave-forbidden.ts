// The last step of a decision: stops replicas on nodes that residency forbids. A forbidden replica may keep running only
// while a successor is starting or another replica is being stopped. It is stopped at once if nothing makes progress,
// because a node is not connected, a successor fails, or the quota allows no successor. See
// docs/design/residency.md#displaced-replicas

import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'

export interface Whereabouts {
  /** Whether residency allows the deployment on the node. */
  mayBeOn(nodeId: NodeId): boolean
  /** Whether the agent of the node is connected and carries out changes. */
  answers(nodeId: NodeId): boolean
  seen(id: AssignmentId): Pick<Observation, 'state' | 'reason'> | undefined
  /** Whether the deadline for the replica to become ready has passed. */
  isOverdue(assignment: Assignment): boolean
  /**
   * The most replicas that one decision stops, because a transaction compares every node that loses a replica. Later
   * decisions stop the remaining replicas.
   */
  readonly most: number
}

/**
 * Returns `kept` with the forbidden replicas marked as removed, or `kept` itself if all replicas stay. `added` are the
 * new assignments of the decision.
 */
export function leaveForbidden(
  kept: readonly Assignment[],
  added: readonly Assignment[],
  whereabouts: Whereabouts,
): readonly Assignment[] {
  const isForbidden = ({ desired, nodeId }: Assignment): boolean =>
    desired === 'running' && !whereabouts.mayBeOn(nodeId)
  if (!kept.some(isForbidden) || added.length > 0) return kept
  if (kept.some((each) => makesProgress(each, whereabouts))) return kept
  const stopped = new Set(kept.filter(isForbidden).slice(0, whereabouts.most))
  return kept.map((each) => (stopped.has(each) ? { ...each, desired: 'removed' } : each))
}

function makesProgress(assignment: Assignment, { mayBeOn, answers, seen, isOverdue }: Whereabouts): boolean {
  const { id, nodeId, desired } = assignment
  if (!answers(nodeId)) return false
  if (desired !== 'running') return true
  const { state, reason = '' } = seen(id) ?? {}
  return mayBeOn(nodeId) && state !== 'ready' && reason === '' && !isOverdue(assignment)
}
