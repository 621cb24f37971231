// Plans how replicas move to another revision: an update is started, advanced, watched, paused or rolled back. Planning
// is idempotent: after a plan is stored, the next plan is empty. Only a changed template hash recreates replicas, so
// scaling restarts nothing. See docs/design/rollouts.md#update-strategy

import type { RevisionTarget, Rollout } from '@holdfast/contract'
import type { DesiredReplicas, ReplicaFacts } from './desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from './desired-rollout.ts'
import { planReplicas, type ReplicaPlan } from './plan-replicas.ts'
import { advanceRollout, currentRollout, endsAt, failRollout } from './plan-rollout-state.ts'

export interface RolloutPlan extends ReplicaPlan {
  /** The revision of the missing replicas: that of the spec, or the last good one during a rollback. */
  readonly aim: RevisionTarget | undefined
  readonly rollout: Rollout | undefined
  readonly lastGood: RevisionTarget | undefined
  /** Time when the rollout must be planned again even if nothing changes, in milliseconds since 1970. */
  readonly replanAt: number | undefined
}

export function planRollout(
  desired: DesiredDeployment,
  placed: PlacedDeployment,
  facts: ReplicaFacts,
  now: number,
): RolloutPlan {
  const count = desired.deleting ? 0 : desired.replicas
  const context = { desired, placed, facts, count, now }
  const started = currentRollout(context)
  const failed = started && failRollout(context, started)
  const { assignments } = placed
  const replicas = desiredReplicasOf(desired, placed, failed, count)
  const plan = planReplicas(replicas, assignments, facts)
  const { rollout, lastGood } = advanceRollout(context, failed, plan)
  const end = rollout && endsAt(context, rollout)
  // A deadline in the past has already been evaluated and needs no further plan.
  const replanAt = end !== undefined && end > now ? end : undefined
  return { ...plan, aim: replicas.aim, rollout, lastGood, replanAt }
}

function desiredReplicasOf(
  { update, target, stateful, gated }: DesiredDeployment,
  { lastGood }: PlacedDeployment,
  rollout: Rollout | undefined,
  count: number,
): DesiredReplicas {
  const paused = rollout?.state === 'paused'
  const isRollingBack = rollout?.state === 'rolling_back'
  const isProgressing = rollout?.state === 'progressing'
  return {
    count,
    stateful,
    gated,
    parallelism: update.parallelism,
    aim: paused || isRollingBack || target === undefined ? (lastGood ?? target) : target,
    // A rollback proceeds even while the image of the next revision is unresolved.
    hold: paused || (target === undefined && !isRollingBack),
    stopFirst: stateful || update.order === 'stop-first',
    goodHash: lastGood?.templateHash,
    recreatedBefore: isProgressing ? rollout.since : 0,
    careful: isProgressing && rollout.replaces,
    failedHash: paused ? rollout.templateHash : undefined,
  }
}
