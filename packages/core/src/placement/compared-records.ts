// Lists the records that a placement plan relies on. The commit compares these records and fails if one has changed
// since the plan was made.

import type { Assignment, AssignmentId, NodeId } from '@holdfast/contract'
import { hasValidReports, type ReplicaFacts } from '../rollout/desired-replicas.ts'
import { desiredReplicas } from '../scaling/desired-replicas.ts'
import type { PlanBasis, PlannedReplicas } from './placement-plan.ts'

type Planned = Pick<PlanBasis, 'deployment' | 'before'> &
  Pick<PlannedReplicas, 'rollout' | 'kept' | 'added' | 'displacement'>

/**
 * The most nodes and observations together that one commit compares. The transaction needs its remaining compares for
 * the records of the deployment and for the leader's fence.
 */
const COMPARED_AT_ONCE = 110

/**
 * The nodes that the plan chooses, and the nodes whose state makes a replica move. Such a state may change before the
 * commit: a drain is cancelled, the release of a node is withdrawn, a lost node returns, or a label is restored.
 */
export function nodesToCompare({ dispositionOf }: ReplicaFacts, planned: Planned): Set<NodeId> {
  const { rollout, kept, added, before, deployment, displacement } = planned
  // A surplus replica is removed whatever the state of its node, so the node is not compared.
  const count = desiredReplicas(deployment)
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
  const drained = kept.filter(
    (each) => dispositionOf(each.nodeId) === 'leaving' && added.some((one) => isSuccessor(one, each)),
  )
  return new Set([...added, ...absent, ...moved, ...displaced, ...drained].map(({ nodeId }) => nodeId))
}

/** A running replica gets a successor with the same template only because of the state of its node. */
const isSuccessor = (added: Assignment, { replica, templateHash, desired }: Assignment): boolean =>
  desired === 'running' && added.replica === replica && added.templateHash === templateHash

/**
 * The assignments whose observations the commit compares: all assignments of each replica number of which the plan stops
 * one. A replica that is stopped because it does not serve may serve by now, and the replica that stays may have failed.
 * So a controller with an outdated cache cannot leave a number without a replica. For a replica on a node without
 * heartbeats, the commit compares the node instead.
 */
export function observationsToCompare(
  { dispositionOf }: ReplicaFacts,
  { kept, before, deployment }: Pick<Planned, 'kept' | 'before' | 'deployment'>,
  nodeIds: ReadonlySet<NodeId>,
): AssignmentId[] {
  const count = desiredReplicas(deployment)
  const isStopped = (each: Assignment) =>
    each.replica <= count && each.desired === 'removed' && before?.assignments.includes(each) !== true
  const numbers = new Set(kept.filter(isStopped).map(({ replica }) => replica))
  const compared = kept.filter(
    ({ nodeId, replica }) => numbers.has(replica) && hasValidReports(dispositionOf(nodeId)),
  )
  return compared.slice(0, Math.max(0, COMPARED_AT_ONCE - nodeIds.size)).map(({ id }) => id)
}
