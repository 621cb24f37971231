// Builds the input of rollout planning from a snapshot: what the deployment desires, and what is known about its
// replicas.

import { DEPENDENCY_UNHEALTHY } from '../rollout/derive-status.ts'
import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from '../rollout/desired-rollout.ts'
import { updateRulesOf } from '../rollout/plan-rollout-rules.ts'
import { desiredReplicas } from '../scaling/desired-replicas.ts'
import { DISPLACED_AT_ONCE, type Displacement } from './find-displaced.ts'
import { NONE_UNCREATED, type Uncreated } from './leave-uncreated.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'
import { hasWriters, isSuperseded, usableLastGood } from './writer-claims.ts'

export function desiredDeployment(
  snapshot: Pick<PlacementSnapshot, 'target' | 'placement'>,
  deployment: DeploymentRecord,
  gated: boolean,
  { dispositions }: Pick<Displacement, 'dispositions'>,
): DesiredDeployment {
  const { spec, deleting } = deployment
  const update = updateRulesOf(spec)
  const parallelism =
    dispositions.size === 0 ? update.parallelism : Math.min(update.parallelism, DISPLACED_AT_ONCE)
  return {
    replicas: desiredReplicas(deployment),
    deleting,
    target: snapshot.target,
    gated,
    update: { ...update, parallelism },
    stateful: hasWriters(snapshot, { spec }),
  }
}

export function placedDeployment(snapshot: PlacementSnapshot): PlacedDeployment {
  const { placement, graceUntil } = snapshot
  return {
    assignments: placement?.assignments ?? [],
    rollout: placement?.rollout,
    lastGood: usableLastGood(snapshot),
    graceUntil,
    // True if the last decision waited for a dependency: that time does not count towards the deadline of the update.
    waited: placement?.shortfall?.reason === DEPENDENCY_UNHEALTHY,
  }
}

export function replicaFacts(
  snapshot: PlacementSnapshot,
  { dispositions }: Pick<Displacement, 'dispositions'>,
  { leaving }: Pick<Uncreated, 'leaving'> = NONE_UNCREATED,
): ReplicaFacts {
  const { dispositionOf, seen, room } = snapshot
  return {
    dispositionOf: (id) => dispositions.get(id) ?? dispositionOf(id),
    isUncreated: (id) => leaving.has(id),
    isSuperseded: (each) => isSuperseded(snapshot, each),
    seen,
    room,
  }
}
