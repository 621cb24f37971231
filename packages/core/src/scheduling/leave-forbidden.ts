// The last step of a decision: stops replicas where residency forbids them. Such a replica may wait only while a successor is
// starting or another replica is being stopped. It is stopped at once where nothing makes progress: a node that does not
// answer, a successor that fails, or a quota without room. See docs/design/residency.md#displaced-replicas

import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'

export interface Whereabouts {
  /** Whether residency allows the deployment on the node. */
  mayBeOn(nodeId: NodeId): boolean
  /** Whether the agent of the node is connected and carries out changes. */
  answers(nodeId: NodeId): boolean
  seen(id: AssignmentId): Pick<Observation, 'state' | 'reason'> | undefined
  /** Whether the replica should be ready by now. */
  isOverdue(assignment: Assignment): boolean
  /** How many replicas are stopped by one decision, because a transaction compares every node that loses one. The others follow. */
  readonly most: number
}

/** `kept`, with the forbidden replicas marked as removed; the same array where all stay. `added` is what the decision places. */
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
