// Explains why each replica of a dry-run plan goes to its node, with the cluster state at the moment of the choice. The
// state includes replicas placed by earlier decisions, and earlier in the same decision. In the state, replicas that are
// being replaced only occupy capacity.

import type { Assignment, AssignmentId, Capacity } from '@holdfast/contract'
import { type ReplicaRequests, requestedBy } from '../../canary/replica-requests.ts'
import { isCanaryReplica, stableAssignments } from '../../canary/split-assignments.ts'
import type { PickDescriber, Workload } from '../../scheduling/index.ts'
import { outgoingReplicas } from '../ignore-outgoing.ts'
import type { PlacementPlan } from '../placement-plan.ts'
import type { PlannedTurn } from './replica-courses.ts'

export interface PickReasons {
  /** Must be called once for each decision of the dry run, in the order of the decisions. */
  of(plan: Pick<PlacementPlan, 'added' | 'kept' | 'rollout'>): PlannedTurn['added']
}

/** The replicas that a describer explains: those of the deployment, or those of its canary. */
interface PickSource {
  readonly workload: Workload
  readonly describer: PickDescriber
}

interface PickSources {
  readonly own: PickSource
  /** Absent if no canary runs. */
  readonly canary?: PickSource
  readonly requests: ReplicaRequests
}

interface CountedPick extends Pick<Assignment, 'nodeId'> {
  readonly unnamed: boolean
  readonly resources: Capacity
}

/** `placed` are the assignments before the dry run. The facts of the describers must already include their replicas. */
export function createPickReasons(
  { own, canary = own, requests }: PickSources,
  placed: readonly Assignment[],
): PickReasons {
  const counted = new Map<AssignmentId, CountedPick>()
  const pickOf = (each: Assignment, unnamed = false): CountedPick => ({
    nodeId: each.nodeId,
    unnamed,
    resources: requestedBy(requests, each),
  })
  for (const each of placed) counted.set(each.id, pickOf(each))
  const count = ({ nodeId, unnamed, resources }: CountedPick, by: 1 | -1): void => {
    for (const { describer } of new Set([own, canary])) describer.count(nodeId, by, unnamed, resources)
  }
  const release = (id: AssignmentId, pick: CountedPick): void => {
    counted.delete(id)
    count(pick, -1)
  }
  const enter = (id: AssignmentId, pick: CountedPick): void => {
    counted.set(id, pick)
    count(pick, 1)
  }
  return {
    of({ added, kept, rollout }) {
      const outgoing = new Set(outgoingReplicas(own.workload, stableAssignments(kept), rollout.missing))
      const now = new Map(kept.map((each) => [each.id, outgoing.has(each)]))
      for (const [id, pick] of counted) if (now.get(id) !== pick.unnamed) release(id, pick)
      for (const each of kept) if (!counted.has(each.id)) enter(each.id, pickOf(each, now.get(each.id)))
      return added.map((assignment) => {
        const { describer } = isCanaryReplica(assignment) ? canary : own
        const why = describer.describe(assignment.nodeId)
        enter(assignment.id, pickOf(assignment))
        return { assignment, why }
      })
    },
  }
}
