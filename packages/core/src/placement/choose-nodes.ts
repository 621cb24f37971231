// Chooses a node for each replica that a rollout plan has to create, as long as nodes accept replicas.

import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import type { Placing } from '../scheduling/index.ts'
import { DISPLACED_AT_ONCE } from './find-displaced.ts'
import { ignoringOutgoing } from './ignore-outgoing.ts'
import { placeTurns, planTurns } from './return-home.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'
import { stopForSelfAntiAffinity } from './stop-for-self-anti-affinity.ts'

/**
 * The most nodes that one plan chooses. The commit compares the record of each chosen node, and a transaction can hold at
 * most 120 compares.
 */
const NODES_AT_ONCE = 100
/**
 * The most nodes that one plan chooses while replicas leave their nodes. The commit also compares the nodes that they
 * leave.
 */
const NODES_AT_ONCE_IF_LEAVING = (NODES_AT_ONCE - DISPLACED_AT_ONCE) / 2

const NOTHING_PLACED: Placing = { placed: [], unplaced: 0, candidates: [], explanation: undefined, cures: [] }

export interface ChosenNodes {
  /**
   * The rollout plan passed in, or a changed plan: with the missing replicas in the order in which they are placed, or
   * with old replicas that stop before their successors start.
   */
  readonly plan: RolloutPlan
  /** Nodes for the first replicas of `plan.missing`, and why the remaining replicas have no node. */
  readonly placing: Placing
}

export function chooseNodes(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  plan: RolloutPlan,
  { dispositionOf }: Pick<ReplicaFacts, 'dispositionOf'>,
): ChosenNodes {
  const isLeaving = plan.kept.some(({ nodeId }) => dispositionOf(nodeId) !== 'staying')
  const most = isLeaving ? NODES_AT_ONCE_IF_LEAVING : NODES_AT_ONCE
  const chosen = placeMissing(snapshot, plan, most)
  const stopping = stopForSelfAntiAffinity(snapshot, deployment, chosen.plan, chosen.placing)
  return stopping === chosen.plan ? chosen : placeMissing(snapshot, stopping, most)
}

function placeMissing(
  snapshot: Pick<PlacementSnapshot, 'scheduling' | 'workload' | 'placement' | 'nodeOf'>,
  plan: RolloutPlan,
  most: number,
): ChosenNodes {
  const { dropped } = plan
  const room = most - new Set(dropped.map(({ nodeId }) => nodeId)).size
  const count = Math.min(plan.missing.length, Math.max(0, room))
  const { missing, turns } = planTurns(snapshot, plan.missing, count)
  const [first, ...later] = turns
  if (first === undefined) return { plan, placing: NOTHING_PLACED }
  const ordered = missing === plan.missing ? plan : { ...plan, missing }
  const { scheduling, workload } = snapshot
  const place = () => placeTurns(scheduling, [first, ...later])
  return { plan: ordered, placing: ignoringOutgoing(scheduling, workload, plan, place) }
}
