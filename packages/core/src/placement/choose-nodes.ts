// A node for each replica that a rollout plan misses, as far as nodes accept one.

import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import type { Placing } from '../scheduling/index.ts'
import { DISPLACED_AT_ONCE, type Displacement } from './find-displaced.ts'
import { placeIgnoringOutgoing } from './ignore-outgoing.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'
import { stopForSelfAntiAffinity } from './stop-for-self-anti-affinity.ts'

/** A commit compares each node that is chosen, and a transaction holds at most 120 compares. */
const NODES_AT_ONCE = 100
/** A displaced replica is compared with the node that it leaves as well. */
const NODES_AT_ONCE_IF_DISPLACED = (NODES_AT_ONCE - DISPLACED_AT_ONCE) / 2

const NOTHING_PLACED: Placing = { placed: [], unplaced: 0, candidates: [], cures: [] }

export interface ChosenNodes {
  /** The given plan, or one that stops predecessors first. */
  readonly plan: RolloutPlan
  /** Nodes for the first replicas of `plan.missing`, and why the others have none. */
  readonly placing: Placing
}

export function chooseNodes(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  plan: RolloutPlan,
  { dispositions }: Pick<Displacement, 'dispositions'>,
): ChosenNodes {
  const most = dispositions.size === 0 ? NODES_AT_ONCE : NODES_AT_ONCE_IF_DISPLACED
  const placing = placeMissing(snapshot, plan, most)
  const stopping = stopForSelfAntiAffinity(snapshot, deployment, plan, placing)
  return { plan: stopping, placing: stopping === plan ? placing : placeMissing(snapshot, stopping, most) }
}

function placeMissing(
  { scheduling, workload }: Pick<PlacementSnapshot, 'scheduling' | 'workload'>,
  plan: RolloutPlan,
  most: number,
): Placing {
  const { dropped, missing } = plan
  const room = most - new Set(dropped.map(({ nodeId }) => nodeId)).size
  const count = Math.min(missing.length, Math.max(0, room))
  return count === 0 ? NOTHING_PLACED : placeIgnoringOutgoing(scheduling, workload, plan, count)
}
