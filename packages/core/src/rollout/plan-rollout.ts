// How replicas become those of another revision: begun, stepped, watched, paused or taken back. Pure: the records and what
// was seen go in, the next records come out, and the same question asked twice changes nothing. DECISIONS 4 (update),
// SAFETY 4e. What is recreated is decided by the template's hash alone, so scaling restarts nothing.

import type { RevisionTarget, Rollout } from '@holdfast/contract'
import type { DesiredReplicas, ReplicaFacts } from './desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from './desired-rollout.ts'
import { planReplicas, type ReplicaPlan } from './plan-replicas.ts'
import { advanceRollout, currentRollout, endsAt, failRollout } from './plan-rollout-state.ts'

export interface RolloutPlan extends ReplicaPlan {
  readonly rollout: Rollout | undefined
  readonly lastGood: RevisionTarget | undefined
  /** When time alone may change the answer, in milliseconds since 1970. */
  readonly lookAgainAt: number | undefined
}

export function planRollout(
  wished: DesiredDeployment,
  placed: PlacedDeployment,
  facts: ReplicaFacts,
  now: number,
): RolloutPlan {
  const count = wished.deleting ? 0 : wished.replicas
  const context = { wished, placed, facts, count, now }
  const begun = currentRollout(context)
  const failed = begun && failRollout(context, begun)
  const { assignments } = placed
  const plan = planReplicas(desiredRolloutOf(wished, placed, failed, count), assignments, facts)
  const { rollout, lastGood } = advanceRollout(context, failed, plan)
  const end = rollout && endsAt(context, rollout)
  // A time that is past has been judged above.
  return { ...plan, rollout, lastGood, lookAgainAt: end !== undefined && end > now ? end : undefined }
}

function desiredRolloutOf(
  { update, target, stateful, gated }: DesiredDeployment,
  { lastGood }: PlacedDeployment,
  rollout: Rollout | undefined,
  count: number,
): DesiredReplicas {
  const paused = rollout?.state === 'paused'
  const goesBack = rollout?.state === 'rolling_back'
  const going = rollout?.state === 'progressing'
  const back = paused || goesBack
  return {
    ...{ count, stateful, gated, parallelism: update.parallelism },
    aim: back || target === undefined ? (lastGood ?? target) : target,
    // What failed goes back, whatever the next revision waits for.
    hold: paused || (target === undefined && !goesBack),
    stopFirst: stateful || update.order === 'stop-first',
    goodHash: lastGood?.templateHash,
    recreatedBefore: going ? rollout.since : 0,
    careful: going && rollout.replaces,
    failedHash: paused ? rollout.templateHash : undefined,
  }
}
