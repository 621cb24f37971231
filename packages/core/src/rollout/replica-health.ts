// Decides whether a replica serves and whether it has failed, from the last observation of its agent and the state of its
// node.

import type { Assignment } from '@holdfast/contract'
import { FAILING_EXITS, isReady, NOT_STARTED } from '../node/observe-replica.ts'
import { hasValidReports, type ReplicaFacts } from './desired-replicas.ts'

/** Whether a replica accepts requests, as reported by an agent that still sends heartbeats. */
export function isServing(
  { id, nodeId }: Pick<Assignment, 'id' | 'nodeId'>,
  facts: Pick<ReplicaFacts, 'seen' | 'dispositionOf'>,
): boolean {
  return isReady(facts.seen(id)) && hasValidReports(facts.dispositionOf(nodeId))
}

/** Why a replica makes its revision fail; undefined while the replica may still become ready. */
export function failureOf(
  { id }: Pick<Assignment, 'id'>,
  facts: Pick<ReplicaFacts, 'seen' | 'isUncreated'>,
): string | undefined {
  const seen = facts.seen(id)
  // The node has failed, and not the revision.
  if (seen === undefined || facts.isUncreated?.(id) === true) return undefined
  if (seen.reason === 'unhealthy') return 'unhealthy'
  if (seen.restarts >= FAILING_EXITS) return NOT_STARTED.has(seen.reason) ? seen.reason : 'exited'
  return seen.state === 'failed' ? seen.reason || 'failed' : undefined
}
