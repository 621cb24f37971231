// Spread ignores outgoing replicas, which are about to be replaced, when it places their successors. An outgoing replica
// keeps its capacity until its container is gone. If spread counted outgoing replicas, an update would push successors
// away from the nodes that are about to become free, and three replicas on three nodes would end up on two nodes.

import type { Assignment } from '@holdfast/contract'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import { NO_DEPLOYMENT, type Placing, type SchedulingView, type Workload } from '../scheduling/index.ts'

/**
 * The assignments that are being removed or replaced. Empty if the deployment has affinity or anti-affinity to itself:
 * those are hard rules that apply to every replica.
 */
export function outgoingReplicas(
  { name, placement }: Workload,
  kept: readonly Assignment[],
  missing: RolloutPlan['missing'],
): Assignment[] {
  const { affinity = [], antiAffinity = [] } = placement ?? {}
  if (affinity.includes(name) || antiAffinity.includes(name)) return []
  const numbers = new Set(missing.map(({ replica }) => replica))
  return kept.filter(({ desired, replica }) => desired === 'removed' || numbers.has(replica))
}

/** Calls `place` as if the outgoing replicas belonged to no deployment, so that spread ignores the latter. */
export function ignoringOutgoing(
  scheduling: Pick<SchedulingView, 'hypothetically'>,
  workload: Workload,
  { kept, missing }: Pick<RolloutPlan, 'kept' | 'missing'>,
  place: () => Placing,
): Placing {
  const { name, resources } = workload
  const changes = outgoingReplicas(workload, kept, missing).map(({ nodeId }) => ({
    kind: 'rename' as const,
    nodeId,
    name,
    resources,
    to: NO_DEPLOYMENT,
  }))
  return scheduling.hypothetically(changes, place)
}
