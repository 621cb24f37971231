// A deployment with anti-affinity to itself runs each replica on a different node. If every node has a replica, a
// successor is refused only because of the replica that it replaces. The two can never run side by side, so the old
// replica is stopped first. See docs/design/rollouts.md#self-anti-affinity

import type { Assignment } from '@holdfast/contract'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import type { Placing } from '../scheduling/index.ts'
import { isRunning } from './find-displaced.ts'
import { placeWithout } from './keep-serving.ts'
import { workloadFor } from './return-home.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'

/**
 * Removes from the plan the successors that wait until their own predecessor is gone. The predecessors are stopped if the
 * plan placed no replica and every missing replica number still runs; otherwise they keep running for now.
 */
export function stopForSelfAntiAffinity(
  snapshot: Pick<PlacementSnapshot, 'scheduling' | 'workload' | 'placement' | 'nodeOf' | 'dispositionOf'>,
  { spec }: Pick<DeploymentRecord, 'spec'>,
  plan: RolloutPlan,
  placing: Placing,
): RolloutPlan {
  const { scheduling, dispositionOf } = snapshot
  const avoidsItself = spec.placement?.antiAffinity?.includes(spec.name) === true
  if (!avoidsItself || placing.unplaced === 0) return plan
  const predecessorsOf = (replica: number) =>
    plan.kept.filter((each) => each.replica === replica && dispositionOf(each.nodeId) !== 'failed')
  const isBlockedByOwn = (replica: number): boolean => {
    const own = predecessorsOf(replica)
    return own.length > 0 && placeWithout(scheduling, workloadFor(snapshot, replica), own).unplaced === 0
  }
  const unplaced = plan.missing.slice(placing.placed.length).map(({ replica }) => replica)
  const waiting = new Set(unplaced.filter(isBlockedByOwn))
  if (waiting.size === 0) return plan
  const runs = ({ replica }: { readonly replica: number }) =>
    plan.kept.some((each) => each.replica === replica && isRunning(each))
  // A replica that was placed just now may occupy the node for a successor, so no replica is stopped in this decision.
  const mayStop = placing.placed.length === 0 && plan.missing.every(runs)
  const kept = plan.kept.map((each): Assignment => {
    const stops = mayStop && waiting.has(each.replica) && isRunning(each)
    return stops ? { ...each, desired: 'removed' } : each
  })
  return { ...plan, kept, missing: plan.missing.filter(({ replica }) => !waiting.has(replica)) }
}
