// Which records a plan relies on. The commit compares them, so that a plan is not written if one of them has changed.

import type { Assignment, AssignmentId, NodeId } from '@holdfast/contract'
import { hasValidReports, type ReplicaFacts } from '../rollout/desired-replicas.ts'
import { desiredCount } from './desired-deployment.ts'
import type { PlanBasis, PlannedReplicas } from './placement-plan.ts'

type Planned = Pick<PlanBasis, 'deployment' | 'before'> &
  Pick<PlannedReplicas, 'rollout' | 'kept' | 'added' | 'displacement'>

/** Nodes and observations together; the rest of a transaction is for the records of the deployment and for the fence. */
const COMPARED_AT_ONCE = 110

/**
 * The nodes that are chosen, and the nodes whose state makes a replica move: a release can be withdrawn, a lost node can
 * return, and a label can be restored.
 */
export function nodesToCompare({ dispositionOf }: ReplicaFacts, planned: Planned): Set<NodeId> {
  const { rollout, kept, added, before, deployment, displacement } = planned
  // A surplus replica goes whatever the state of its node.
  const count = desiredCount(deployment)
  const absent = rollout.dropped.filter(({ nodeId }) => dispositionOf(nodeId) === 'absent')
  const moved = kept.filter(
    (each) =>
      each.replica <= count &&
      dispositionOf(each.nodeId) !== 'staying' &&
      before?.assignments.includes(each) !== true,
  )
  const numbers = new Set(added.map(({ replica }) => replica))
  const displaced = kept.filter(
    ({ nodeId, replica }) => numbers.has(replica) && displacement.refusals.has(nodeId),
  )
  return new Set([...added, ...absent, ...moved, ...displaced].map(({ nodeId }) => nodeId))
}

/**
 * The assignments of every number of which the plan stops one. A replica that is stopped because it does not serve may serve
 * by now, and the one that stays may have failed: a controller with an outdated cache must not leave a number without a
 * replica. Replicas on silent nodes are judged by their node instead.
 */
export function observationsToCompare(
  { dispositionOf }: ReplicaFacts,
  { kept, before, deployment }: Pick<Planned, 'kept' | 'before' | 'deployment'>,
  nodeIds: ReadonlySet<NodeId>,
): AssignmentId[] {
  const count = desiredCount(deployment)
  const isStopped = (each: Assignment) =>
    each.replica <= count && each.desired === 'removed' && before?.assignments.includes(each) !== true
  const numbers = new Set(kept.filter(isStopped).map(({ replica }) => replica))
  const compared = kept.filter(
    ({ nodeId, replica }) => numbers.has(replica) && hasValidReports(dispositionOf(nodeId)),
  )
  return compared.slice(0, COMPARED_AT_ONCE - nodeIds.size).map(({ id }) => id)
}
