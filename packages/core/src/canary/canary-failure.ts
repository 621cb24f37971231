// Decides whether a replica of a canary has failed. A canary has less patience than an update: the first exit is enough,
// because the replicas beside it still serve.

import { type Assignment, defined } from '@holdfast/contract'
import { containerCause } from '../node/container-cause.ts'
import { NOT_STARTED } from '../node/observe-replica.ts'
import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import { hasValidReports } from '../rollout/desired-replicas.ts'
import { failureOf } from '../rollout/replica-health.ts'
import type { FoundCanaryFailure } from './advance-canary.ts'

/** The first failed replica among the running assignments; reports of a lost node are no failure of the canary. */
export function findCanaryFailure(
  assignments: readonly Assignment[],
  facts: Pick<ReplicaFacts, 'seen' | 'dispositionOf' | 'isUncreated'>,
): FoundCanaryFailure | undefined {
  for (const each of assignments) {
    if (each.desired !== 'running' || !hasValidReports(facts.dispositionOf(each.nodeId))) continue
    const reason = failureOf(each, facts) ?? exitOf(each, facts)
    if (reason === undefined) continue
    const { id, replica, nodeId } = each
    return { replica, nodeId, reason, ...defined({ cause: containerCause(facts.seen(id)) }) }
  }
  return undefined
}

/** Attempts that the engine refused are repeated as in an update; a run that ended is a failure. */
function exitOf({ id }: Assignment, facts: Pick<ReplicaFacts, 'seen'>): string | undefined {
  const seen = facts.seen(id)
  if (seen === undefined || NOT_STARTED.has(seen.reason)) return undefined
  return seen.restarts > 0 || seen.lastExit !== undefined ? 'exited' : undefined
}
