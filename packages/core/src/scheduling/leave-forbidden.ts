// The last word of a decision on what residency forbids: a replica may wait where it must not be only while something that
// ends by itself is on its way, a successor or an old one that is being stopped. Where all turns are stuck (a machine that
// does not answer, a successor in trouble, a quota that leaves no room) it goes at once. SPEC 2.7: a hard filter.

import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'

export interface Whereabouts {
  /** Whether residency lets the deployment be on the node. */
  mayBeOn(nodeId: NodeId): boolean
  /** Whether what its agent is told happens: it can be heard. */
  answers(nodeId: NodeId): boolean
  seen(id: AssignmentId): Pick<Observation, 'state' | 'reason'> | undefined
  /** Whether so much time has passed since it was assigned that it should be ready. */
  isOverdue(assignment: Assignment): boolean
  /** How many go at once: a transaction compares each node that one leaves (SAFETY 4a); the others follow. */
  readonly most: number
}

/** `kept` with those that go now; `added` is what the decision places. The very objects that were given where all stay. */
export function leaveForbidden(
  kept: readonly Assignment[],
  added: readonly Assignment[],
  whereabouts: Whereabouts,
): readonly Assignment[] {
  const isForbidden = ({ desired, nodeId }: Assignment): boolean =>
    desired === 'running' && !whereabouts.mayBeOn(nodeId)
  if (!kept.some(isForbidden) || added.length > 0) return kept
  if (kept.some((each) => isOnItsWay(each, whereabouts))) return kept
  const going = new Set(kept.filter(isForbidden).slice(0, whereabouts.most))
  return kept.map((each) => (going.has(each) ? { ...each, desired: 'removed' } : each))
}

function isOnItsWay(assignment: Assignment, { mayBeOn, answers, seen, isOverdue }: Whereabouts): boolean {
  const { id, nodeId, desired } = assignment
  if (!answers(nodeId)) return false
  if (desired !== 'running') return true
  const { state, reason = '' } = seen(id) ?? {}
  return mayBeOn(nodeId) && state !== 'ready' && reason === '' && !isOverdue(assignment)
}
