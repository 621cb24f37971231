// Builds the input of rollout planning from a snapshot: what the deployment desires, and what is known about its
// replicas.

import { DEPENDENCY_UNHEALTHY } from '../rollout/derive-status.ts'
import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from '../rollout/desired-rollout.ts'
import { isStateful, updateRulesOf } from '../rollout/plan-rollout-rules.ts'
import { DISPLACED_AT_ONCE, type Displacement } from './find-displaced.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'

/** The number of desired replicas; a deployment that is being deleted desires none. */
export const desiredCount = ({ deleting, spec }: Pick<DeploymentRecord, 'deleting' | 'spec'>): number =>
  deleting ? 0 : spec.replicas

export function desiredDeployment(
  { target }: Pick<PlacementSnapshot, 'target'>,
  { spec, deleting }: DeploymentRecord,
  gated: boolean,
  { dispositions }: Pick<Displacement, 'dispositions'>,
): DesiredDeployment {
  const update = updateRulesOf(spec)
  const parallelism =
    dispositions.size === 0 ? update.parallelism : Math.min(update.parallelism, DISPLACED_AT_ONCE)
  return {
    replicas: spec.replicas,
    deleting,
    target,
    gated,
    update: { ...update, parallelism },
    stateful: isStateful(spec),
  }
}

export function placedDeployment({ placement, graceUntil }: PlacementSnapshot): PlacedDeployment {
  return {
    assignments: placement?.assignments ?? [],
    rollout: placement?.rollout,
    lastGood: placement?.lastGood,
    graceUntil,
    // True if the last decision waited for a dependency: that time does not count towards the deadline of the update.
    waited: placement?.shortfall?.reason === DEPENDENCY_UNHEALTHY,
  }
}

export function replicaFacts(
  { dispositionOf, seen, room }: PlacementSnapshot,
  { dispositions }: Pick<Displacement, 'dispositions'>,
): ReplicaFacts {
  return { dispositionOf: (id) => dispositions.get(id) ?? dispositionOf(id), seen, room }
}
